package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The sizes and offsets of one channel, as REGISTERED states them. All in bytes but the counts.
 *
 * @param layoutVersion {@link ChannelLayout#LAYOUT_VERSION}
 * @param bytes size of the whole memory
 * @param submissionOffset where the submission ring begins
 * @param completionOffset where the completion ring begins
 * @param entries descriptors in each ring, a power of two
 * @param arenaOffset where the first slot begins
 * @param slotCount number of slots
 * @param slotBytes size of a slot, its header included
 */
public record ChannelGeometry(
    int layoutVersion,
    long bytes,
    long submissionOffset,
    long completionOffset,
    int entries,
    long arenaOffset,
    int slotCount,
    int slotBytes) {

  /** What the Manager of this version hands out. */
  public static final ChannelGeometry STANDARD = of(256, 16, 1 << 20);

  private static final int HEADER_BYTES = 4096;
  private static final int ARENA_ALIGNMENT = 65_536;
  private static final int MAX_ENTRIES = 1 << 16;
  private static final int MAX_SLOTS = 4096;
  private static final int MAX_SLOT_BYTES = 1 << 26;

  /** Rings one after the other behind the header page, then the arena at a multiple of 64 KiB. */
  public static ChannelGeometry of(int entries, int slotCount, int slotBytes) {
    long ring = (long) entries * ChannelLayout.DESCRIPTOR_BYTES;
    long completions = HEADER_BYTES + ring;
    long arena = Math.ceilDiv(completions + ring, ARENA_ALIGNMENT) * (long) ARENA_ALIGNMENT;
    return new ChannelGeometry(
        ChannelLayout.LAYOUT_VERSION,
        arena + (long) slotCount * slotBytes,
        HEADER_BYTES,
        completions,
        entries,
        arena,
        slotCount,
        slotBytes);
  }

  /** The first thing wrong with it, null if it can be used. */
  public @Nullable String problem() {
    if (layoutVersion != ChannelLayout.LAYOUT_VERSION) {
      return "layoutVersion " + layoutVersion;
    }
    if (entries < 1 || entries > MAX_ENTRIES || Integer.bitCount(entries) != 1) {
      return "entries " + entries;
    }
    if (slotCount < 1 || slotCount > MAX_SLOTS) {
      return "slotCount " + slotCount;
    }
    if (slotBytes <= ChannelLayout.SLOT_HEADER_BYTES
        || slotBytes > MAX_SLOT_BYTES
        || slotBytes % 64 != 0) {
      return "slotBytes " + slotBytes;
    }
    long ring = (long) entries * ChannelLayout.DESCRIPTOR_BYTES;
    if (misplaced(submissionOffset, HEADER_BYTES, completionOffset - ring)) {
      return "submissionOffset " + submissionOffset;
    }
    if (misplaced(completionOffset, HEADER_BYTES, arenaOffset - ring)) {
      return "completionOffset " + completionOffset;
    }
    if (misplaced(arenaOffset, HEADER_BYTES, bytes - (long) slotCount * slotBytes)) {
      return "arenaOffset " + arenaOffset;
    }
    return null;
  }

  /** The most bytes of a request's or a reply's payload. */
  public int maxPayloadBytes() {
    return slotBytes - ChannelLayout.SLOT_HEADER_BYTES;
  }

  /** Where a slot begins. */
  public long slotOffset(int slot) {
    return arenaOffset + (long) slot * slotBytes;
  }

  /** Where the payload of a slot begins. */
  public long payloadOffset(int slot) {
    return slotOffset(slot) + ChannelLayout.SLOT_HEADER_BYTES;
  }

  /** Writes the header page of fresh, zero-filled channel memory. */
  public void writeHeader(MemorySegment channel, long epoch, long sessionId) {
    channel.set(ChannelLayout.INT, 8, layoutVersion);
    channel.set(ChannelLayout.INT, 12, entries);
    channel.set(ChannelLayout.LONG, 16, bytes);
    channel.set(ChannelLayout.LONG, 24, epoch);
    channel.set(ChannelLayout.LONG, 32, sessionId);
    channel.set(ChannelLayout.LONG, 40, submissionOffset);
    channel.set(ChannelLayout.LONG, 48, completionOffset);
    channel.set(ChannelLayout.LONG, 56, arenaOffset);
    channel.set(ChannelLayout.INT, 64, slotCount);
    channel.set(ChannelLayout.INT, 68, slotBytes);
    ChannelLayout.setIntRelease(channel, ChannelLayout.SESSION_STATE, 1);
    ChannelLayout.setLongRelease(channel, 0, ChannelLayout.MAGIC);
  }

  private static boolean misplaced(long offset, long min, long max) {
    return offset < min || offset > max || offset % 64 != 0;
  }
}
