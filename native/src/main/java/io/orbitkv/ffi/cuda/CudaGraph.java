package io.orbitkv.ffi.cuda;

/** Work that was captured once and is launched whole, any number of times, by one call. */
public interface CudaGraph extends AutoCloseable {

  /** What a stream is given while it captures. */
  @FunctionalInterface
  interface Submission {
    /** Submits to the stream that captures, and waits for nothing. */
    void run() throws CudaException;
  }

  @Override
  void close() throws CudaException;
}
