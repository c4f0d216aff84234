package io.orbitkv.ffi.cuda;

import java.lang.foreign.MemorySegment;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;

/** Makes the binding's pointer objects of addresses, and the other way round. */
final class JcudaPointers {
  private JcudaPointers() {}

  /** A device address, given or to be filled in. */
  static final class Device extends CUdeviceptr {
    /** To be filled in by a call. */
    Device() {}

    Device(long address) {
      super(new CUdeviceptr(), address);
    }

    long address() {
      return getNativePointer() + getByteOffset();
    }
  }

  /** Memory of this process. */
  private static final class Host extends Pointer {
    Host(long address) {
      super(address);
    }
  }

  static Device device(long address) {
    return new Device(address);
  }

  static Pointer host(MemorySegment memory) {
    return new Host(memory.address());
  }
}
