package io.orbitkv.ffi.cuda;

import static io.orbitkv.ffi.cuda.JcudaDriver.check;

import io.orbitkv.ffi.cuda.JcudaPointers.Device;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Field;
import java.util.Arrays;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUevent;
import jcuda.driver.CUfunction;
import jcuda.driver.CUipcMemHandle;
import jcuda.driver.CUipcMem_flags;
import jcuda.driver.CUmodule;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/** A primary context through JCuda. Each call makes it current on the calling thread first. */
final class JcudaDevice implements CudaDevice {
  private final CudaGpu gpu;
  private final CUdevice device;
  private final CUcontext context;
  private boolean closed;

  private JcudaDevice(CudaGpu gpu, CUdevice device, CUcontext context) {
    this.gpu = gpu;
    this.device = device;
    this.context = context;
  }

  static JcudaDevice retain(CudaGpu gpu) throws CudaException {
    CUdevice device = JcudaDriver.device(gpu.ordinal());
    CUcontext context = new CUcontext();
    check("cuDevicePrimaryCtxRetain", JCudaDriver.cuDevicePrimaryCtxRetain(context, device));
    return new JcudaDevice(gpu, device, context);
  }

  void enter() throws CudaException {
    check("cuCtxSetCurrent", JCudaDriver.cuCtxSetCurrent(context));
  }

  @Override
  public CudaGpu gpu() {
    return gpu;
  }

  @Override
  public void pin(MemorySegment memory) throws CudaException {
    enter();
    check(
        "cuMemHostRegister",
        JCudaDriver.cuMemHostRegister(
            JcudaPointers.host(memory),
            memory.byteSize(),
            JCudaDriver.CU_MEMHOSTREGISTER_PORTABLE | JCudaDriver.CU_MEMHOSTREGISTER_DEVICEMAP));
  }

  @Override
  public void unpin(MemorySegment memory) throws CudaException {
    enter();
    check("cuMemHostUnregister", JCudaDriver.cuMemHostUnregister(JcudaPointers.host(memory)));
  }

  @Override
  public long deviceAddress(MemorySegment pinned) throws CudaException {
    enter();
    Device address = new Device();
    check(
        "cuMemHostGetDevicePointer",
        JCudaDriver.cuMemHostGetDevicePointer(address, JcudaPointers.host(pinned), 0));
    return address.address();
  }

  @Override
  public long allocate(long bytes) throws CudaException {
    enter();
    Device address = new Device();
    check("cuMemAlloc", JCudaDriver.cuMemAlloc(address, bytes));
    return address.address();
  }

  @Override
  public void free(long address) throws CudaException {
    enter();
    check("cuMemFree", JCudaDriver.cuMemFree(JcudaPointers.device(address)));
  }

  @Override
  public byte[] export(long address) throws CudaException {
    enter();
    CUipcMemHandle handle = new CUipcMemHandle();
    check(
        "cuIpcGetMemHandle", JCudaDriver.cuIpcGetMemHandle(handle, JcudaPointers.device(address)));
    return reserved(handle).clone();
  }

  @Override
  public long open(byte[] handle) throws CudaException {
    enter();
    CUipcMemHandle raw = new CUipcMemHandle();
    byte[] bytes = reserved(raw);
    System.arraycopy(handle, 0, bytes, 0, bytes.length);
    Device address = new Device();
    check(
        "cuIpcOpenMemHandle",
        JCudaDriver.cuIpcOpenMemHandle(
            address, raw, CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    return address.address();
  }

  @Override
  public void close(long opened) throws CudaException {
    enter();
    check("cuIpcCloseMemHandle", JCudaDriver.cuIpcCloseMemHandle(JcudaPointers.device(opened)));
  }

  @Override
  public long size(long address) throws CudaException {
    enter();
    Device base = new Device();
    long[] bytes = new long[1];
    check(
        "cuMemGetAddressRange",
        JCudaDriver.cuMemGetAddressRange(base, bytes, JcudaPointers.device(address)));
    return bytes[0];
  }

  /** The binding has no way to make a handle of bytes, but the bytes are all there is to one. */
  private static byte[] reserved(CUipcMemHandle handle) {
    try {
      Field bytes = CUipcMemHandle.class.getDeclaredField("reserved");
      bytes.setAccessible(true);
      byte[] value = (byte[]) bytes.get(handle);
      if (value.length != HANDLE_BYTES) {
        throw new IllegalStateException("a handle of " + Arrays.toString(value));
      }
      return value;
    } catch (ReflectiveOperationException changed) {
      throw new IllegalStateException("JCuda's CUipcMemHandle has changed", changed);
    }
  }

  @Override
  public CudaStream stream() throws CudaException {
    enter();
    JcudaStream.Handle stream = new JcudaStream.Handle();
    check(
        "cuStreamCreate",
        JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING));
    return new JcudaStream(this, stream);
  }

  @Override
  public CudaEvent event() throws CudaException {
    enter();
    CUevent event = new CUevent();
    check("cuEventCreate", JCudaDriver.cuEventCreate(event, 0));
    return new JcudaEvent(this, event);
  }

  @Override
  public CudaKernel kernel(byte[] ptx, String name) throws CudaException {
    enter();
    CUmodule module = new CUmodule();
    // The driver reads up to a zero byte.
    check(
        "cuModuleLoadData",
        JCudaDriver.cuModuleLoadData(module, Arrays.copyOf(ptx, ptx.length + 1)));
    CUfunction function = new CUfunction();
    check("cuModuleGetFunction", JCudaDriver.cuModuleGetFunction(function, module, name));
    return new JcudaStream.Kernel(name, function);
  }

  @Override
  public synchronized void close() throws CudaException {
    if (!closed) {
      closed = true;
      check("cuDevicePrimaryCtxRelease", JCudaDriver.cuDevicePrimaryCtxRelease(device));
    }
  }
}
