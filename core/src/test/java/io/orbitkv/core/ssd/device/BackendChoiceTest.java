package io.orbitkv.core.ssd.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which backend is chosen, in processes from which something was taken away. */
class BackendChoiceTest {
  private static final String SETUP = "425";
  private static final String ENTER = "426";
  private static final String REGISTER = "427";
  private static final String UNUSED = "9999";
  private static final String WORKS = "wrote 8192, read 8192, equal";

  @TempDir Path dir;

  @Test
  void shouldChooseIoUringWhereItWorks() throws Exception {
    List<String> lines = run("auto", UNUSED, 1);
    assertTrue(lines.getFirst().startsWith("uring: io_uring works here ("), lines.toString());
    assertTrue(lines.getFirst().endsWith("past the page cache"), lines.toString());
    assertEquals(WORKS, lines.getLast());
    assertEquals(2, lines.size(), "no shortfall: " + lines);
  }

  @ParameterizedTest
  @CsvSource({
    SETUP + ", 1, io_uring_setup failed with EPERM: forbidden by a seccomp profile",
    SETUP + ", 13, io_uring_setup failed with EACCES: forbidden by a seccomp profile",
    SETUP + ", 38, io_uring_setup failed with ENOSYS: the kernel has no io_uring",
    ENTER + ", 1, io_uring_enter failed with EPERM: forbidden by a seccomp profile",
    REGISTER + ", 1, io_uring_register failed with EPERM: forbidden by a seccomp profile",
  })
  void shouldFallBackWhereAProfileForbidsIoUring(String systemCall, int errno, String why)
      throws Exception {
    List<String> lines = run("auto", systemCall, errno);
    assertTrue(lines.getFirst().startsWith("posix: no io_uring: " + why), lines.toString());
    assertTrue(
        lines.get(1).startsWith("io_uring: got pread and pwrite by threads, because " + why));
    assertEquals(WORKS, lines.getLast());
  }

  @Test
  void shouldRefuseWhatIsForbiddenWhenItIsAskedFor() throws Exception {
    List<String> lines = run("uring", SETUP, 1);
    assertTrue(
        lines.getFirst().startsWith("refused BACKEND: io_uring_setup failed with EPERM"),
        lines.toString());
    assertTrue(lines.getFirst().contains("; allow the io_uring system calls"), lines.toString());
  }

  @Test
  void shouldGoThroughThePageCacheWhereDirectIsRefused() throws Exception {
    List<String> lines = run("auto", "direct", 22);
    assertTrue(
        lines.getFirst().startsWith("posix: a file system does not take O_DIRECT; 4 threads"),
        lines.toString());
    assertTrue(lines.getFirst().endsWith("through the page cache"), lines.toString());
    assertTrue(lines.get(1).startsWith("O_DIRECT on " + dir), lines.toString());
    assertTrue(lines.get(1).contains("EINVAL"), lines.toString());
    assertEquals(WORKS, lines.getLast());
  }

  @Test
  void shouldGoWithoutRegisteredBuffersWhereLockedMemoryIsLimited() throws Exception {
    List<String> lines = run("auto", "memlock", 65_536);
    assertTrue(lines.getFirst().startsWith("uring: "), lines.toString());
    assertTrue(
        lines.get(1).startsWith("the pool as registered buffers: got pages pinned for each"));
    assertTrue(lines.get(1).contains("ENOMEM"), lines.toString());
    assertEquals(WORKS, lines.getLast());
  }

  private List<String> run(String backend, String forbidden, int number) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home", ""), "bin", "java").toString());
    for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (!flag.startsWith("-agentlib") && !flag.startsWith("-javaagent")) {
        command.add(flag);
      }
    }
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path", "")));
    command.add(RestrictedProcess.class.getName());
    command.addAll(List.of(dir.toString(), backend, forbidden, Integer.toString(number)));
    Path output = dir.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      boolean ended = process.waitFor(60, TimeUnit.SECONDS);
      assertTrue(ended && process.exitValue() == 0, text(output));
    } finally {
      process.destroyForcibly();
    }
    return Files.readAllLines(output);
  }

  private static String text(Path file) throws IOException {
    return Files.readString(file);
  }
}
