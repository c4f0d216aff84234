package io.orbitkv.ffi.cuda;

import java.lang.foreign.MemorySegment;

/**
 * Copies and kernels that run one after the other, beside the thread that submits them. One thread
 * at a time submits. Host memory must be pinned and must stay until what uses it has passed.
 */
public interface CudaStream extends AutoCloseable {
  /** No structure. */
  byte[] NOTHING = {};

  /** Copies to the device. */
  void toDevice(long to, MemorySegment from) throws CudaException;

  /** Copies from the device. */
  void toHost(MemorySegment to, long from) throws CudaException;

  /**
   * Copies pieces of equal size that lie at equal distances.
   *
   * @param to device address of the first piece
   * @param toPitch bytes from piece to piece there
   * @param from holds all pieces
   * @param fromPitch bytes from piece to piece there
   * @param pieceBytes of one
   * @param pieces how many
   */
  void toDevice(
      long to, long toPitch, MemorySegment from, long fromPitch, long pieceBytes, long pieces)
      throws CudaException;

  /**
   * Copies many pieces of one size by the driver's own call for that.
   *
   * @param to device or pinned addresses
   * @param from the same
   * @throws CudaException CUDA_ERROR_NOT_SUPPORTED if the driver has none
   */
  void copyBatch(long[] to, long[] from, long bytes) throws CudaException;

  /** Fills device memory. */
  void fill(long address, byte value, long bytes) throws CudaException;

  /**
   * Starts a kernel.
   *
   * @param blocks of the grid
   * @param threads of a block
   * @param arguments each the value of a parameter; a 32-bit parameter takes the low half
   */
  default void launch(CudaKernel kernel, int blocks, int threads, long... arguments)
      throws CudaException {
    launch(kernel, blocks, threads, NOTHING, arguments);
  }

  /**
   * Starts a kernel whose last parameter is a structure.
   *
   * @param last the structure's bytes, which are copied before this returns; empty for none
   * @param arguments the values of the parameters before it
   */
  void launch(CudaKernel kernel, int blocks, int threads, byte[] last, long... arguments)
      throws CudaException;

  /**
   * Captures what is submitted to this stream meanwhile, by this thread, instead of running it.
   *
   * @throws CudaException if some of it cannot be captured
   */
  CudaGraph capture(CudaGraph.Submission work) throws CudaException;

  /** Starts all of a graph. */
  void launch(CudaGraph graph) throws CudaException;

  /** Marks what was submitted so far. */
  void record(CudaEvent event) throws CudaException;

  /** Waits for everything submitted. */
  void await() throws CudaException;

  @Override
  void close() throws CudaException;
}
