package io.orbitkv.ffi.cuda;

import static jcuda.driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import jcuda.driver.CUdevice;
import jcuda.driver.CUuuid;
import jcuda.driver.JCudaDriver;

/** The driver through JCuda. Only {@link Cuda} makes one, after the library was found. */
final class JcudaDriver implements CudaDriver {
  private final List<CudaGpu> gpus;
  private final String version;

  private JcudaDriver(List<CudaGpu> gpus, String version) {
    this.gpus = List.copyOf(gpus);
    this.version = version;
  }

  /** Loads the binding's native half. */
  static void load() {
    JCudaDriver.setExceptionsEnabled(false);
  }

  static JcudaDriver initialize() throws CudaException {
    check("cuInit", JCudaDriver.cuInit(0));
    int[] number = new int[1];
    check("cuDriverGetVersion", JCudaDriver.cuDriverGetVersion(number));
    String version = number[0] / 1000 + "." + number[0] % 1000 / 10;
    int[] count = new int[1];
    check("cuDeviceGetCount", JCudaDriver.cuDeviceGetCount(count));
    List<CudaGpu> gpus = new ArrayList<>();
    for (int ordinal = 0; ordinal < count[0]; ordinal++) {
      gpus.add(describe(ordinal));
    }
    return new JcudaDriver(gpus, version);
  }

  private static CudaGpu describe(int ordinal) throws CudaException {
    CUdevice device = device(ordinal);
    CUuuid uuid = new CUuuid();
    check("cuDeviceGetUuid", JCudaDriver.cuDeviceGetUuid(uuid, device));
    byte[] name = new byte[128];
    check("cuDeviceGetName", JCudaDriver.cuDeviceGetName(name, name.length, device));
    long[] bytes = new long[1];
    check("cuDeviceTotalMem", JCudaDriver.cuDeviceTotalMem(bytes, device));
    int[] processors = new int[1];
    check(
        "cuDeviceGetAttribute",
        JCudaDriver.cuDeviceGetAttribute(
            processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    String text = new String(name, StandardCharsets.US_ASCII);
    int end = text.indexOf('\0');
    return new CudaGpu(
        ordinal,
        CudaGpu.uuidText(uuid.bytes),
        end < 0 ? text : text.substring(0, end),
        bytes[0],
        processors[0]);
  }

  static CUdevice device(int ordinal) throws CudaException {
    CUdevice device = new CUdevice();
    check("cuDeviceGet", JCudaDriver.cuDeviceGet(device, ordinal));
    return device;
  }

  @Override
  public List<CudaGpu> gpus() {
    return gpus;
  }

  @Override
  public String version() {
    return version;
  }

  @Override
  public CudaDevice open(int ordinal) throws CudaException {
    return JcudaDevice.retain(gpus.get(ordinal));
  }

  static void check(String call, int result) throws CudaException {
    if (result != 0) {
      throw failure(call, result);
    }
  }

  static CudaException failure(String call, int result) {
    String[] name = new String[1];
    int known = JCudaDriver.cuGetErrorName(result, name);
    return new CudaException(call, result, known == 0 ? String.valueOf(name[0]) : "unknown error");
  }
}
