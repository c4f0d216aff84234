package io.orbitkv.chaos.sim;

import io.orbitkv.core.pool.Extent;
import io.orbitkv.core.pool.ExtentAllocator;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/** The pool of one process. What is given back is poisoned, and whoever touches it is reported. */
final class SimMemory {
  private static final byte POISON = (byte) 0xDB;

  private final MemorySegment pool;
  private final BitSet granulesInUse = new BitSet();

  SimMemory(MemorySegment pool) {
    this.pool = pool;
    pool.fill(POISON);
  }

  MemorySegment pool() {
    return pool;
  }

  /** Books that tell this of every extent. */
  class Books extends ExtentAllocator {
    Books(int granuleBytes, long firstGeneration) {
      super(pool.byteSize(), granuleBytes, firstGeneration);
    }

    @Override
    public @Nullable Extent allocate(int bytes) {
      Extent extent = super.allocate(bytes);
      if (extent != null) {
        int from = granule(extent.offset());
        granulesInUse.set(from, from + granule(extent.bytes()));
      }
      return extent;
    }

    @Override
    public void free(long offset, int bytes) {
      super.free(offset, bytes);
      granulesInUse.clear(granule(offset), granule(offset) + granule(bytes));
      pool.asSlice(offset, bytes).fill(POISON);
    }
  }

  private static int granule(long offset) {
    return (int) (offset / ExtentAllocator.GRANULE_BYTES);
  }

  /** Bytes of the pool are read or written. */
  void touches(long offset, int bytes) {
    int from = granule(offset);
    int to = granule(offset + bytes - 1) + 1;
    if (granulesInUse.nextClearBit(from) < to) {
      throw new Violation(
          Rule.FREED_MEMORY,
          "a copy of %d bytes touches offset %d, which is free".formatted(bytes, offset));
    }
  }

  /** Flips a bit of an extent in use; false if there is none. */
  boolean flipBit(Draws draws) {
    int granule = granulesInUse.nextSetBit(draws.below(Math.max(1, granulesInUse.length())));
    if (granule < 0) {
      return false;
    }
    long offset = (long) granule * ExtentAllocator.GRANULE_BYTES + draws.below(160);
    byte old = pool.get(ValueLayout.JAVA_BYTE, offset);
    pool.set(ValueLayout.JAVA_BYTE, offset, (byte) (old ^ (1 << draws.below(8))));
    return true;
  }
}
