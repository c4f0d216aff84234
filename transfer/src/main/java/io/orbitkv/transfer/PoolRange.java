package io.orbitkv.transfer;

/**
 * Bytes of a registered pool.
 *
 * @param offset from the pool's first byte, not negative
 * @param length in bytes, at least 1
 */
public record PoolRange(long offset, long length) {
  public PoolRange {
    if (offset < 0 || length < 1 || offset + length < 0) {
      throw new IllegalArgumentException("no range: " + length + " bytes at " + offset);
    }
  }

  /** The first offset behind it. */
  public long end() {
    return offset + length;
  }

  /** Whether it covers all of another range. */
  public boolean covers(PoolRange other) {
    return offset <= other.offset && other.end() <= end();
  }
}
