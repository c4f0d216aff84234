package io.orbitkv.ffi.cuda;

import java.util.List;

/** The CUDA driver of this host. Any thread. */
public interface CudaDriver {

  /** The GPUs that this process may use, by ordinal. */
  List<CudaGpu> gpus();

  /** The CUDA version that the driver speaks, such as {@code 13.0}. */
  String version();

  /**
   * Retains the primary context of a GPU; the first retain in a process takes some 0.3 s and some
   * hundred MiB of its memory.
   *
   * @param ordinal of {@link #gpus}
   */
  CudaDevice open(int ordinal) throws CudaException;
}
