package io.orbitkv.core.copy;

import io.orbitkv.ffi.cuda.CudaDevice;
import io.orbitkv.ffi.cuda.CudaEvent;
import io.orbitkv.ffi.cuda.CudaException;
import io.orbitkv.ffi.cuda.CudaStream;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The two ways of a GPU's copy engines: into its memory and out of it, a stream each, so that loads
 * and saves never wait for one another. Counts what went.
 *
 * <p>The mover's thread submits; the counts may be read from any.
 */
final class GpuLanes {
  private final MemorySegment pool;
  private final CudaStream loads;
  private final CudaStream saves;
  private volatile long loadedBytes;
  private volatile long savedBytes;
  private volatile long loadChunks;
  private volatile long saveChunks;
  private volatile long copies;
  private volatile @Nullable String problem;

  GpuLanes(CudaDevice device, MemorySegment pool) throws CudaException {
    this.pool = pool;
    this.loads = device.stream();
    this.saves = device.stream();
  }

  /** Starts the copies of a chunk from the pool and marks their end. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // One thread writes.
  void toSlot(Chunk chunk, long slot, CudaEvent end) throws CudaException {
    for (Chunk.Run run : chunk.runs()) {
      if (run.pieces() == 1) {
        loads.toDevice(slot + run.slotOffset(), pool.asSlice(run.poolOffset(), run.pieceBytes()));
      } else {
        long bytes = run.poolPitch() * (run.pieces() - 1L) + run.pieceBytes();
        loads.toDevice(
            slot + run.slotOffset(),
            run.slotPitch(),
            pool.asSlice(run.poolOffset(), bytes),
            run.poolPitch(),
            run.pieceBytes(),
            run.pieces());
      }
    }
    copies += chunk.runs().size();
    loads.record(end);
  }

  /** Starts the copies of a chunk of whole blocks into the pool and marks their end. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // One thread writes.
  void toPool(Chunk chunk, long slot, CudaEvent end) throws CudaException {
    for (Chunk.Run run : chunk.runs()) {
      saves.toHost(pool.asSlice(run.poolOffset(), run.pieceBytes()), slot + run.slotOffset());
    }
    copies += chunk.runs().size();
    saves.record(end);
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // One thread writes.
  void loaded(Chunk chunk) {
    loadedBytes += chunk.payloadBytes();
    loadChunks++;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // One thread writes.
  void saved(Chunk chunk) {
    savedBytes += chunk.payloadBytes();
    saveChunks++;
  }

  /** A copy failed; the first one is remembered, and none begins any more. */
  void fail(String what) {
    if (problem == null) {
      problem = what;
    }
  }

  boolean broken() {
    return problem != null;
  }

  long loadedBytes() {
    return loadedBytes;
  }

  long savedBytes() {
    return savedBytes;
  }

  long loadChunks() {
    return loadChunks;
  }

  long saveChunks() {
    return saveChunks;
  }

  long copies() {
    return copies;
  }

  @Nullable String problem() {
    return problem;
  }

  void close() throws CudaException {
    loads.close();
    saves.close();
  }
}
