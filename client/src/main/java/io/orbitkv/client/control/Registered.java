package io.orbitkv.client.control;

import io.orbitkv.client.control.JsonFields.Unknown;
import io.orbitkv.client.wire.ChannelGeometry;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.RefusalCode;
import org.jspecify.annotations.Nullable;

/**
 * The answer to {@link Register}, with three descriptors: channel memfd, doorbell, signal. With
 * staged buffers three more: board memfd, eventfd to the engine, eventfd to the Manager.
 *
 * @param supersededSessionId the session that this one replaced, null for none
 * @param channel the sizes and offsets of the channel memfd
 * @param board null without staged buffers of its own
 */
public record Registered(
    long sessionId,
    long instanceId,
    int namespaceId,
    long epoch,
    @Nullable Long supersededSessionId,
    ChannelGeometry channel,
    @Nullable Board board) {

  /**
   * The memory by which staging slots are passed.
   *
   * @param bytes of the memfd
   */
  public record Board(long bytes) {}

  /** How many descriptors come with it. */
  public static final int DESCRIPTORS = 3;

  /** The same with a board. */
  public static final int STAGED_DESCRIPTORS = 6;

  /** How many descriptors come with this one. */
  public int descriptors() {
    return board == null ? DESCRIPTORS : STAGED_DESCRIPTORS;
  }

  /** The JSON. */
  public byte[] encode() {
    return StrictJson.write(this);
  }

  /** Reads the Manager's JSON; a channel that cannot be used is refused. */
  public static Decoded<Registered> decode(byte[] json) {
    return JsonFields.decode(
        json,
        Unknown.IGNORED,
        in -> {
          ChannelGeometry channel = in.object("channel", Registered::channel);
          String problem = channel == null ? null : channel.problem();
          if (problem != null) {
            in.refuse(RefusalCode.BAD_VALUE, "channel", problem);
          }
          return new Registered(
              in.integer("sessionId", 1, JsonFields.MAX_INTEGER),
              in.integer("instanceId", 1, JsonFields.MAX_INTEGER),
              in.smallInteger("namespaceId", 0, Integer.MAX_VALUE),
              in.integer("epoch", 1, JsonFields.MAX_INTEGER),
              in.optionalInteger("supersededSessionId", 1, JsonFields.MAX_INTEGER),
              channel == null ? ChannelGeometry.STANDARD : channel,
              in.has("board")
                  ? in.object(
                      "board", each -> new Board(each.integer("bytes", 1, JsonFields.MAX_INTEGER)))
                  : null);
        });
  }

  private static ChannelGeometry channel(JsonFields in) {
    return new ChannelGeometry(
        in.smallInteger("layoutVersion", 1, 65_535),
        in.integer("bytes", 1, JsonFields.MAX_INTEGER),
        in.integer("submissionOffset", 0, JsonFields.MAX_INTEGER),
        in.integer("completionOffset", 0, JsonFields.MAX_INTEGER),
        in.smallInteger("entries", 1, Integer.MAX_VALUE),
        in.integer("arenaOffset", 0, JsonFields.MAX_INTEGER),
        in.smallInteger("slotCount", 1, Integer.MAX_VALUE),
        in.smallInteger("slotBytes", 1, Integer.MAX_VALUE));
  }
}
