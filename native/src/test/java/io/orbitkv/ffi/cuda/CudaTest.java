package io.orbitkv.ffi.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.orbitkv.ffi.SharedLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class CudaTest {
  @Test
  void shouldSayWhyThereIsNoDriver() {
    Assumptions.assumeFalse(
        SharedLibrary.probe("libcuda.so.1", "cuInit", "").present(), "this host has a driver");
    Cuda.Found.Absent absent = (Cuda.Found.Absent) Cuda.find();
    assertFalse(absent.reason().isBlank());
    assertFalse(absent.remedy().isBlank());
    assertEquals(absent, Cuda.find(), "it is looked for once");
  }

  @Test
  void shouldCopyThroughAGpuAndBack() throws CudaException {
    Assumptions.assumeTrue(
        Cuda.find() instanceof Cuda.Found.Present, () -> "no GPU here: " + Cuda.find());
    CudaDriver driver = ((Cuda.Found.Present) Cuda.find()).driver();
    try (CudaDevice device = driver.open(0);
        Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(1 << 20, 4096);
      device.pin(memory);
      memory.asSlice(0, 1 << 19).fill((byte) 7);
      long address = device.allocate(1 << 19);
      try (CudaStream stream = device.stream();
          CudaEvent event = device.event()) {
        stream.toDevice(address, memory.asSlice(0, 1 << 19));
        stream.toHost(memory.asSlice(1 << 19, 1 << 19), address);
        stream.record(event);
        stream.await();
        assertEquals(true, event.passed());
        memory.asSlice(0, 1 << 19).fill((byte) 8);
        try (CudaGraph graph =
            stream.capture(() -> stream.toDevice(address, memory.asSlice(0, 1 << 19)))) {
          stream.toHost(memory.asSlice(1 << 19, 1 << 19), address);
          stream.await();
          assertEquals(7, memory.get(ValueLayout.JAVA_BYTE, (1 << 20) - 1), "only captured so far");
          stream.launch(graph);
          stream.toHost(memory.asSlice(1 << 19, 1 << 19), address);
          stream.await();
        }
      }
      assertEquals(8, memory.get(ValueLayout.JAVA_BYTE, (1 << 20) - 1));
      device.free(address);
      device.unpin(memory);
    }
  }
}
