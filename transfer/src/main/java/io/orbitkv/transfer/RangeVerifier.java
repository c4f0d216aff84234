package io.orbitkv.transfer;

import java.lang.foreign.MemorySegment;

/**
 * Checks what was read, before a receipt says so. Called once for each range, on a thread of the
 * engine, when all of the bytes have come; it must not block.
 */
@FunctionalInterface
public interface RangeVerifier {

  /** Takes every range as it came; for reads that are checked elsewhere. */
  RangeVerifier NONE = (index, range, bytes) -> true;

  /**
   * Whether a range holds what it should.
   *
   * @param index the range's place in the request, from 0
   */
  boolean holds(int index, PoolRange range, MemorySegment bytes);
}
