/**
 * The CUDA driver, as far as copies between pinned memory and a GPU's staging slots need it. {@link
 * io.orbitkv.ffi.cuda.Cuda} finds it or says why there is none; everything else is behind the
 * interfaces {@link io.orbitkv.ffi.cuda.CudaDriver} and {@link io.orbitkv.ffi.cuda.CudaDevice}, so
 * that it runs over plain memory in tests.
 *
 * <p>A failed call is a {@link io.orbitkv.ffi.cuda.CudaException} that names the call and the
 * driver's word for the error.
 */
@NullMarked
package io.orbitkv.ffi.cuda;

import org.jspecify.annotations.NullMarked;
