package io.orbitkv.core.ssd.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.ssd.device.FakeSsdDevice.Fate;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FakeSsdDeviceTest {
  private final MemorySegment pool = Arena.ofAuto().allocate(64 << 10, 4096);
  private final FakeSsdDevice device = new FakeSsdDevice(2, 64 << 10, pool, 4);
  private final List<String> ended = new ArrayList<>();

  @Test
  void shouldEndEachOperationAsTheScriptSays() {
    device.script(
        operation ->
            switch ((int) operation.token()) {
              case 1 -> new Fate.Failed(5);
              case 2 -> new Fate.Part(4096);
              case 3 -> new Fate.Delayed(2, new Fate.Done());
              case 4 -> new Fate.Hung(new Fate.Failed(110));
              default -> new Fate.Done();
            });
    for (int token = 1; token <= 4; token++) {
      assertTrue(device.read(0, 0, 0, 8192, token));
    }
    assertFalse(device.read(0, 0, 0, 8192, 5), "the depth is 4");
    poll();
    assertEquals(List.of(), ended, "nothing was flushed");
    device.flush();
    poll();
    assertEquals(List.of("1:-5", "2:4096"), ended);
    poll();
    poll();
    assertEquals(List.of("1:-5", "2:4096", "3:8192"), ended);
    assertThrows(IllegalStateException.class, device::close, "one hangs");
    device.release();
    poll();
    assertEquals("4:-110", ended.getLast());
    device.close();
  }

  @Test
  void shouldMoveBytesOnlyWhenAnOperationEnds() {
    pool.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
    device.write(1, 4096, 0, 4096, 1);
    device.flush();
    pool.set(ValueLayout.JAVA_BYTE, 0, (byte) 2);
    poll();
    assertEquals(2, device.file(1)[4096], "the pool was reused too early, and it shows");
    device.script(_ -> new Fate.Flipped(0));
    device.read(1, 4096, 8192, 4096, 2);
    device.flush();
    poll();
    assertEquals(3, pool.get(ValueLayout.JAVA_BYTE, 8192));
    device.script(_ -> new Fate.Torn(0));
    pool.set(ValueLayout.JAVA_BYTE, 0, (byte) 9);
    device.write(1, 4096, 0, 4096, 3);
    device.flush();
    poll();
    assertEquals("3:4096", ended.getLast());
    assertEquals(2, device.file(1)[4096]);
  }

  @Test
  void shouldEndOperationsInTheOrderOfASeed() {
    device.order(new Random(3));
    for (int token = 0; token < 4; token++) {
      device.read(0, 0, 0, 4096, token);
    }
    device.await(0);
    poll();
    assertEquals(4, ended.size());
    assertFalse(ended.equals(List.of("0:4096", "1:4096", "2:4096", "3:4096")), ended.toString());
  }

  private void poll() {
    device.poll((token, result) -> ended.add(token + ":" + result));
  }
}
