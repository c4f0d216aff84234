package io.orbitkv.ffi.cuda;

import java.io.Serial;

/** A call that the CUDA driver refused, or work that it reports as failed. */
public final class CudaException extends Exception {
  @Serial private static final long serialVersionUID = 1;

  private final int code;

  /**
   * @param call the driver's function
   * @param code a {@code CUresult}, not 0
   * @param name the driver's word for it, such as {@code CUDA_ERROR_INVALID_VALUE}
   */
  public CudaException(String call, int code, String name) {
    super("%s: %s (%d)".formatted(call, name, code));
    this.code = code;
  }

  /** The {@code CUresult}. */
  public int code() {
    return code;
  }
}
