package io.orbitkv.core.pool;

import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.NativeException;
import java.lang.foreign.MemorySegment;

/**
 * The Manager's DRAM tier: one mapping, and the books of the extents in it. The memory is read and
 * written by copy workers; the books belong to the manager loop.
 */
public final class PinnedPool implements AutoCloseable {
  private final MemorySegment memory;
  private final ExtentAllocator extents;
  private final String description;
  private final PoolId id;
  private final AutoCloseable mapping;

  private PinnedPool(
      MemorySegment memory,
      ExtentAllocator extents,
      String description,
      PoolId id,
      AutoCloseable mapping) {
    this.memory = memory;
    this.extents = extents;
    this.description = description;
    this.id = id;
    this.mapping = mapping;
  }

  /**
   * Maps a pool.
   *
   * @param poolBytes 512 bytes to 1 TiB
   * @param firstGeneration above every generation that the journal has seen
   * @throws NativeException if the kernel refuses the mapping
   */
  public static PinnedPool map(long poolBytes, MapOptions options, long firstGeneration)
      throws NativeException {
    Mapping mapping = Mapping.anonymous(poolBytes, options);
    return new PinnedPool(
        mapping.segment(),
        new ExtentAllocator(poolBytes, firstGeneration),
        mapping.report().describe(),
        PoolId.NONE,
        mapping);
  }

  /**
   * A pool that outlives the daemon.
   *
   * @param file owned from here on
   * @param firstGeneration above every generation that the journal has seen
   */
  public static PinnedPool in(PoolFile file, long firstGeneration) {
    MemorySegment memory = file.memory();
    return new PinnedPool(
        memory,
        new ExtentAllocator(memory.byteSize(), firstGeneration),
        file.description(),
        PoolId.of(file.id()),
        file);
  }

  /** A pool over memory that somebody else owns. */
  public static PinnedPool over(MemorySegment memory, long firstGeneration) {
    return new PinnedPool(
        memory,
        new ExtentAllocator(memory.byteSize(), firstGeneration),
        "memory of the caller",
        PoolId.NONE,
        () -> {});
  }

  public MemorySegment memory() {
    return memory;
  }

  public ExtentAllocator extents() {
    return extents;
  }

  /** What the journal knows it by; {@link PoolId#NONE} if it dies with the daemon. */
  public PoolId id() {
    return id;
  }

  /** What kind of memory the kernel gave, and what was asked for and not given. */
  public String description() {
    return description;
  }

  /** Unmaps. Call it when no copy is in flight: a late one would write to unmapped memory. */
  @Override
  public void close() {
    try {
      mapping.close();
    } catch (Exception e) {
      throw new IllegalStateException("the pool could not be unmapped", e);
    }
  }
}
