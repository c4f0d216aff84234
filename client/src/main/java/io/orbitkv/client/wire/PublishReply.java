package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The payload of a publish's answer: what became of each block.
 *
 * <pre>
 *  0 blockCount u32 | 4 stored u32 | 8 already u32 | 12 elsewhere u32 | 16 refused u32 | 20 zero u32
 * 24 outcome u8 each, padded to 8
 * </pre>
 */
public final class PublishReply {
  private static final int HEADER_BYTES = 24;
  private static final BlockOutcome[] OUTCOMES = BlockOutcome.values();

  private final byte[] outcomes;
  private final int[] counts = new int[OUTCOMES.length];

  private PublishReply(byte[] outcomes) {
    this.outcomes = outcomes;
    for (byte outcome : outcomes) {
      counts[outcome]++;
    }
  }

  /** A reply with these outcomes, in request order. */
  public static PublishReply of(BlockOutcome... outcomes) {
    byte[] bytes = new byte[outcomes.length];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) outcomes[i].code();
    }
    return new PublishReply(bytes);
  }

  /**
   * A reply from codes of {@link BlockOutcome}, in request order, which are copied.
   *
   * @throws IndexOutOfBoundsException if one is not a code
   */
  public static PublishReply ofCodes(byte[] codes) {
    return new PublishReply(codes.clone());
  }

  /** How many blocks there were. */
  public int blockCount() {
    return outcomes.length;
  }

  /** How many had this outcome. */
  public int count(BlockOutcome outcome) {
    return counts[outcome.code()];
  }

  /** The outcome of one block. */
  public BlockOutcome outcome(int index) {
    return OUTCOMES[outcomes[index]];
  }

  /** Bytes of the payload. */
  public int encodedBytes() {
    return HEADER_BYTES + RequestName.pad8(outcomes.length);
  }

  /**
   * Writes the payload.
   *
   * @return its bytes
   */
  public int encode(MemorySegment payload) {
    WireWriter out = new WireWriter(payload);
    out.u32(outcomes.length);
    for (int count : counts) {
      out.u32(count);
    }
    out.u32(0).bytes(outcomes, 0, outcomes.length).pad8();
    return out.position();
  }

  /** Reads a private copy of a payload. */
  public static Decoded<PublishReply> decode(byte[] payload) {
    WireReader in = new WireReader(payload, payload.length);
    long blockCount = in.u32();
    long[] counts = new long[OUTCOMES.length];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = in.u32();
    }
    in.zeros(4);
    if (in.bad() || blockCount > in.remaining()) {
      return Decoded.bad(RefusalCode.BAD_PAYLOAD, blockCount + " outcomes do not fit");
    }
    int from = in.position();
    byte[] outcomes = Arrays.copyOfRange(payload, from, from + (int) blockCount);
    in.skip(outcomes.length);
    in.pad8();
    if (!in.finishedWell()) {
      return Decoded.bad(RefusalCode.BAD_PAYLOAD, "publish reply length or padding");
    }
    for (byte outcome : outcomes) {
      if (outcome < 0 || outcome >= OUTCOMES.length) {
        return Decoded.bad(RefusalCode.BAD_PAYLOAD, "outcome " + outcome);
      }
    }
    PublishReply reply = new PublishReply(outcomes);
    for (int i = 0; i < counts.length; i++) {
      if (reply.counts[i] != counts[i]) {
        return Decoded.bad(RefusalCode.BAD_PAYLOAD, "outcome counts");
      }
    }
    return Decoded.good(reply);
  }

  @Override
  public boolean equals(@Nullable Object object) {
    return object instanceof PublishReply other && Arrays.equals(outcomes, other.outcomes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(outcomes);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("PublishReply[");
    for (BlockOutcome outcome : OUTCOMES) {
      text.append(outcome).append('=').append(count(outcome)).append(' ');
    }
    return text.append(']').toString();
  }
}
