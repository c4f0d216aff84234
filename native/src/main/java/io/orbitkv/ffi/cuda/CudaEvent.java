package io.orbitkv.ffi.cuda;

/** A mark in a stream. */
public interface CudaEvent extends AutoCloseable {

  /**
   * Whether everything before the mark is done; true if it was never recorded.
   *
   * @throws CudaException if any of it failed. The context is then of no use any more
   */
  boolean passed() throws CudaException;

  /** Milliseconds on the GPU's clock since an earlier mark; both must have passed. */
  double millisSince(CudaEvent earlier) throws CudaException;

  @Override
  void close() throws CudaException;
}
