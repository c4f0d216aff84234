package io.orbitkv.core.pool;

/**
 * Where one slice lies in the pool.
 *
 * @param offset byte offset from the start of the pool, a multiple of {@link
 *     ExtentAllocator#GRANULE_BYTES}
 * @param bytes allocated bytes, a multiple of the granule
 * @param generation never given twice, so a delayed reference to a reused offset is recognised
 */
public record Extent(long offset, int bytes, long generation) {}
