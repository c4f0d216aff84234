package io.orbitkv.transfer;

import java.lang.foreign.MemorySegment;

/**
 * One range to read, and where to.
 *
 * @param source bytes of the source's pool
 * @param destination native writable memory of the same length
 */
public record RangeRead(PoolRange source, MemorySegment destination) {
  public RangeRead {
    if (!destination.isNative() || destination.isReadOnly()) {
      throw new IllegalArgumentException("a destination is native memory that can be written");
    }
    if (destination.byteSize() != source.length()) {
      throw new IllegalArgumentException(
          "a destination of " + destination.byteSize() + " bytes for " + source.length());
    }
  }
}
