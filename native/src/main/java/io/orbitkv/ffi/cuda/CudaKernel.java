package io.orbitkv.ffi.cuda;

/** A kernel that was loaded; it lasts as long as its device. */
public interface CudaKernel {
  /** Its entry. */
  String name();
}
