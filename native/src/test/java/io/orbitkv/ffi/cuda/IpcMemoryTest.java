package io.orbitkv.ffi.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class IpcMemoryTest {
  private final FakeCuda cuda = new FakeCuda();

  @Test
  void shouldOpenAHandleOnceAndCloseItWithItsLastUser() throws CudaException {
    try (CudaDevice device = cuda.open(0)) {
      long memory = device.allocate(4096);
      byte[] handle = device.export(memory);
      IpcMemory ipc = new IpcMemory(device);
      IpcMemory.Opened first = ipc.open(handle);
      IpcMemory.Opened second = ipc.open(handle);
      assertEquals(first.address(), second.address());
      assertEquals(1, cuda.openHandles());
      first.close();
      first.close();
      assertEquals(1, ipc.count(), "closing twice takes nothing from the other user");
      second.close();
      assertEquals(0, cuda.openHandles());
      device.free(memory);
    }
    assertEquals(FakeCuda.NO_LEAKS, cuda.leaks());
  }

  @Test
  void shouldRefuseAHandleOfNobody() throws CudaException {
    try (CudaDevice device = cuda.open(0)) {
      IpcMemory ipc = new IpcMemory(device);
      assertThrows(CudaException.class, () -> ipc.open(new byte[CudaDevice.HANDLE_BYTES]));
      assertEquals(0, ipc.count());
    }
  }
}
