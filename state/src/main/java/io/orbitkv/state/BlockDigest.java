package io.orbitkv.state;

/**
 * What a block adds to the digest: independent parts (identity, state, each slice, each pin) that
 * are summed up, so that a change of one costs one subtraction and one addition.
 */
final class BlockDigest {
  private static final long ID_PART = 0x1B0C4A6F0D5E7A11L;
  private static final long SLICE_PART = 0x2C9D0E3B5A7F1863L;
  private static final long PIN_PART = 0x35F1B28D694C0E77L;
  private static final long STATE_PART = 0x4E7A93C15D20B8F6L;

  private BlockDigest() {}

  static long identity(long blockId, long keyHash, long position) {
    return Mix.mix(Mix.chain(Mix.chain(blockId ^ ID_PART, keyHash), position));
  }

  static long state(long blockId, byte state) {
    return state <= BlockChunk.EVICTED
        ? Mix.mix(blockId * 4 + state + STATE_PART)
        : Mix.mix(Mix.chain(blockId ^ STATE_PART, state));
  }

  static long pin(long blockId) {
    return Mix.mix(blockId ^ PIN_PART);
  }

  static long slice(
      long blockId,
      int slice,
      byte sliceState,
      long offset,
      long generation,
      int bytes,
      long checksum) {
    long hash = Mix.chain(blockId ^ SLICE_PART, (slice << 2) | sliceState);
    hash = Mix.chain(Mix.chain(Mix.chain(hash, offset), generation), bytes);
    return Mix.mix(Mix.chain(hash, checksum));
  }

  /** The slice at index {@code at} of its chunk's slice columns. */
  static long slice(BlockChunk chunk, long blockId, int slice, int at) {
    return slice(
        blockId,
        slice,
        chunk.sliceState[at],
        chunk.offset[at],
        chunk.generation[at],
        chunk.extentBytes[at],
        chunk.checksum[at]);
  }
}
