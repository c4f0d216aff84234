package io.orbitkv.manager.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.ssd.device.SsdBackend;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SsdBenchTest {
  private static final DiskLoad READ = new DiskLoad(4096, 32, true, false);
  private static final DiskLoad WRITE = new DiskLoad(1 << 20, 8, false, true);

  @TempDir Path dir;

  @ParameterizedTest
  @EnumSource(SsdBackend.class)
  void shouldMeasureWithoutFioAndSayThatThereIsNoFloor(SsdBackend backend) {
    BenchReport report =
        SsdBench.run(
            new SsdBench.Options(
                dir, 32 << 20, backend, 1, 0.05, List.of(READ, WRITE), Optional.empty()));
    assertEquals(
        List.of(
            "random read, 4 KiB, depth 32",
            "  CPU time a GB",
            "sequential write, 1 MiB, depth 8",
            "  CPU time a GB"),
        report.figures().stream().map(Figure::name).toList());
    for (Figure figure : report.figures()) {
      boolean cpu = figure.unit() == Unit.NANOS; // It is counted in steps of 10 ms.
      assertTrue(cpu || figure.measured() > 0, figure.toString());
    }
    assertTrue(report.met(), "nothing is asked without a floor");
    assertTrue(
        report.lines().contains("no floor: fio is not installed (apt-get install fio)"),
        String.join("\n", report.lines()));
  }

  @Test
  void shouldAskFioForTheSameLoad() {
    List<String> command =
        Fio.command("fio", READ, Path.of("/f"), 4096, 1 << 20, "io_uring", true, 2);
    assertTrue(
        command.containsAll(
            List.of(
                "--filename=/f",
                "--offset=4096",
                "--size=1048576",
                "--bs=4096",
                "--rw=randread",
                "--iodepth=32",
                "--direct=1",
                "--fixedbufs=1",
                "--registerfiles=1")),
        command.toString());
    assertTrue(
        Fio.command("fio", WRITE, Path.of("/f"), 4096, 1 << 20, "libaio", false, 2)
            .containsAll(List.of("--rw=write", "--direct=0")));
  }

  @Test
  void shouldReadWhatFioSays() throws IOException {
    String output =
        """
        fio: a warning
        {
          "jobs" : [ { "error" : 0, "usr_cpu" : 5.0, "sys_cpu" : 20.0,
            "read" : { "io_bytes" : 500000000, "runtime" : 2000 },
            "write" : { "io_bytes" : 0, "runtime" : 0 } } ]
        }
        """;
    LoadResult result = Fio.parse(output, false);
    assertEquals(250e6, result.bytesPerSecond());
    assertEquals(1e9, result.cpuNanosPerGb(), 1, "half a second for half a GB");
    assertThrows(IOException.class, () -> Fio.parse(output, true));
  }
}
