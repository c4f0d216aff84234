package io.orbitkv.ffi.cuda;

import java.lang.foreign.MemorySegment;

/**
 * One GPU's primary context in this process. Device addresses are plain numbers. Any thread;
 * closing it is for whoever knows that nothing uses it any more.
 */
public interface CudaDevice extends AutoCloseable {
  /** Bytes of an exported memory's handle. */
  int HANDLE_BYTES = 64;

  /** Which GPU it is. */
  CudaGpu gpu();

  /**
   * Locks memory of this process and makes it reachable from every GPU, so that copies go at the
   * speed of the bus and beside the CPU; some 50 ms a GiB. It must be unpinned before it is
   * unmapped.
   */
  void pin(MemorySegment memory) throws CudaException;

  /** Undoes {@link #pin}. */
  void unpin(MemorySegment memory) throws CudaException;

  /** Where kernels reach pinned memory. */
  long deviceAddress(MemorySegment pinned) throws CudaException;

  /** Allocates device memory that can be exported. */
  long allocate(long bytes) throws CudaException;

  /** Frees what {@link #allocate} gave. */
  void free(long address) throws CudaException;

  /** A handle by which another process opens an allocation: {@value #HANDLE_BYTES} bytes. */
  byte[] export(long address) throws CudaException;

  /**
   * Opens another process's allocation. A handle can be open once in a process: see {@link
   * IpcMemory}.
   *
   * @return where it lies here
   */
  long open(byte[] handle) throws CudaException;

  /** Undoes {@link #open}. */
  void close(long opened) throws CudaException;

  /** Bytes of the allocation that begins at an address, opened or allocated. */
  long size(long address) throws CudaException;

  /** A queue of copies and kernels that run in order. */
  CudaStream stream() throws CudaException;

  /** Something to record in a stream and wait for. */
  CudaEvent event() throws CudaException;

  /**
   * Loads a kernel.
   *
   * @param ptx the text of a PTX module
   * @param name the kernel's entry
   */
  CudaKernel kernel(byte[] ptx, String name) throws CudaException;

  /** Releases the context. */
  @Override
  void close() throws CudaException;
}
