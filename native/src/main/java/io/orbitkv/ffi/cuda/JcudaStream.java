package io.orbitkv.ffi.cuda;

import static io.orbitkv.ffi.cuda.JcudaDriver.check;

import java.lang.foreign.MemorySegment;
import jcuda.Pointer;
import jcuda.driver.CUDA_MEMCPY2D;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmemorytype;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/** A stream through JCuda. */
final class JcudaStream implements CudaStream {
  /** A loaded kernel. */
  record Kernel(String name, CUfunction function) implements CudaKernel {}

  /** A stream whose address other bindings can use. */
  static final class Handle extends CUstream {
    long address() {
      return getNativePointer();
    }
  }

  private final JcudaDevice device;
  private final Handle stream;

  JcudaStream(JcudaDevice device, Handle stream) {
    this.device = device;
    this.stream = stream;
  }

  @Override
  public void toDevice(long to, MemorySegment from) throws CudaException {
    device.enter();
    check(
        "cuMemcpyHtoDAsync",
        JCudaDriver.cuMemcpyHtoDAsync(
            JcudaPointers.device(to), JcudaPointers.host(from), from.byteSize(), stream));
  }

  @Override
  public void toHost(MemorySegment to, long from) throws CudaException {
    device.enter();
    check(
        "cuMemcpyDtoHAsync",
        JCudaDriver.cuMemcpyDtoHAsync(
            JcudaPointers.host(to), JcudaPointers.device(from), to.byteSize(), stream));
  }

  @Override
  public void toDevice(
      long to, long toPitch, MemorySegment from, long fromPitch, long pieceBytes, long pieces)
      throws CudaException {
    device.enter();
    CUDA_MEMCPY2D copy = new CUDA_MEMCPY2D();
    copy.srcMemoryType = CUmemorytype.CU_MEMORYTYPE_HOST;
    copy.srcHost = JcudaPointers.host(from);
    copy.srcPitch = fromPitch;
    copy.dstMemoryType = CUmemorytype.CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = JcudaPointers.device(to);
    copy.dstPitch = toPitch;
    copy.WidthInBytes = pieceBytes;
    copy.Height = pieces;
    check("cuMemcpy2DAsync", JCudaDriver.cuMemcpy2DAsync(copy, stream));
  }

  @Override
  public void copyBatch(long[] to, long[] from, long bytes) throws CudaException {
    device.enter();
    check("cuMemcpyBatchAsync", BatchCopy.run(to, from, bytes, stream.address()));
  }

  @Override
  public void fill(long address, byte value, long bytes) throws CudaException {
    device.enter();
    check(
        "cuMemsetD8Async",
        JCudaDriver.cuMemsetD8Async(JcudaPointers.device(address), value, bytes, stream));
  }

  @Override
  public void launch(CudaKernel kernel, int blocks, int threads, byte[] last, long... arguments)
      throws CudaException {
    device.enter();
    Pointer[] values = new Pointer[arguments.length + (last.length > 0 ? 1 : 0)];
    for (int i = 0; i < arguments.length; i++) {
      values[i] = Pointer.to(new long[] {arguments[i]});
    }
    if (last.length > 0) {
      values[arguments.length] = Pointer.to(last);
    }
    check(
        "cuLaunchKernel",
        JCudaDriver.cuLaunchKernel(
            ((Kernel) kernel).function(),
            blocks,
            1,
            1,
            threads,
            1,
            1,
            0,
            stream,
            Pointer.to(values),
            null));
  }

  @Override
  public CudaGraph capture(CudaGraph.Submission work) throws CudaException {
    return JcudaGraph.capture(device, stream, work);
  }

  @Override
  public void launch(CudaGraph graph) throws CudaException {
    device.enter();
    check("cuGraphLaunch", JCudaDriver.cuGraphLaunch(((JcudaGraph) graph).executable, stream));
  }

  @Override
  public void record(CudaEvent event) throws CudaException {
    device.enter();
    check("cuEventRecord", JCudaDriver.cuEventRecord(((JcudaEvent) event).event, stream));
  }

  @Override
  public void await() throws CudaException {
    device.enter();
    check("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(stream));
  }

  @Override
  public void close() throws CudaException {
    device.enter();
    check("cuStreamDestroy", JCudaDriver.cuStreamDestroy(stream));
  }
}
