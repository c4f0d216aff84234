package io.orbitkv.manager.bench;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GcLogTest {
  @TempDir Path dir;

  @Test
  void shouldReadHeapAndPauses() throws IOException {
    Path file = dir.resolve("gc.log");
    GcLog log = new GcLog(file);
    assertEquals(0, log.majors());
    assertTrue(log.leastUsedBytes(2).isEmpty());
    Files.writeString(
        file,
        """
        [2.009s][info][gc          ] GC(0) Major Collection (Timer)
        [2.009s][info][gc,phases   ] GC(0) Y: Pause Mark Start (Major) 0.017ms
        [2.026s][info][gc,phases   ] GC(0) Y: Pause Relocate Start 2.018ms
        [2.032s][info][gc,phases   ] GC(0) Y: Concurrent Relocate 5.965ms
        [2.034s][info][gc,phases   ] GC(0) Y: Young Generation 94M(2%)->38M(1%) 0.023s
        [2.041s][info][gc,phases   ] GC(0) O: Old Generation 38M(1%)->40M(1%) 0.007s
        [3.041s][info][gc,phases   ] GC(1) y: Young Generation 58M(2%)->41M(1%) 0.023s
        [4.126s][info][gc,heap     ] GC(2) Y:      Live:         -                 2M (1%)            0M (0%)            0M (0%)
        [4.127s][info][gc,heap     ] GC(2) O:      Live:         -                30M (1%)           30M (1%)           30M (1%)
        [4.128s][info][gc,heap     ] GC(2) y:      Live:         -                99M (1%)           30M (1%)           30M (1%)
        [4.129s][info][gc,phases   ] GC(2) O: Old Generation 39M(1%)->33M(1%) 0.007s
        [6.129s][info][gc,phases   ] GC(3) O: Old Generation 39M(1%)->36M(1%) 0.007s
        """);
    assertEquals(3, log.majors());
    assertEquals(33L << 20, log.leastUsedBytes(2).orElseThrow());
    assertEquals(32L << 20, log.leastLiveBytes(2).orElseThrow());
    assertEquals(36L << 20, log.leastUsedBytes(1).orElseThrow());
    assertArrayEquals(new long[] {17_000, 2_018_000}, log.pausesNanos());
  }
}
