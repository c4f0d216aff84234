package io.orbitkv.ffi.cuda;

import static io.orbitkv.ffi.cuda.JcudaDriver.check;

import jcuda.driver.CUevent;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/** An event through JCuda. */
final class JcudaEvent implements CudaEvent {
  private final JcudaDevice device;
  final CUevent event;

  JcudaEvent(JcudaDevice device, CUevent event) {
    this.device = device;
    this.event = event;
  }

  @Override
  public boolean passed() throws CudaException {
    device.enter();
    int result = JCudaDriver.cuEventQuery(event);
    if (result == CUresult.CUDA_ERROR_NOT_READY) {
      return false;
    }
    check("cuEventQuery", result);
    return true;
  }

  @Override
  public double millisSince(CudaEvent earlier) throws CudaException {
    device.enter();
    float[] millis = new float[1];
    check(
        "cuEventElapsedTime",
        JCudaDriver.cuEventElapsedTime(millis, ((JcudaEvent) earlier).event, event));
    return millis[0];
  }

  @Override
  public void close() throws CudaException {
    device.enter();
    check("cuEventDestroy", JCudaDriver.cuEventDestroy(event));
  }
}
