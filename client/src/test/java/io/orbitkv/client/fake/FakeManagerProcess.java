package io.orbitkv.client.fake;

import io.orbitkv.client.contract.ManagerUnderTest;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A {@link FakeManager} in a process of its own, which can be killed. */
public final class FakeManagerProcess implements ManagerUnderTest {
  private static final long START_MILLIS = 10_000;

  private final String path;
  private long epoch;
  private @Nullable Process process;

  /** Starts one that listens at a path. */
  public FakeManagerProcess(String path) throws IOException {
    this.path = path;
    start();
  }

  /** The child: the socket's path and the epoch. It ends with its parent's pipe. */
  public static void main(String[] args) throws IOException {
    try (FakeManager manager = FakeManager.start(args[0], Long.parseLong(args[1]), 30_000, 0)) {
      while (System.in.read() >= 0) {
        manager.thaw();
      }
    }
  }

  @Override
  public String socketPath() {
    return path;
  }

  @Override
  public void start() throws IOException {
    String classes =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    classes.replace(File.pathSeparator + File.pathSeparator, File.pathSeparator),
                    FakeManagerProcess.class.getName(),
                    path,
                    Long.toString(++epoch)))
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    long deadline = System.nanoTime() + START_MILLIS * 1_000_000;
    while (!Files.exists(Path.of(path))) {
      if (System.nanoTime() > deadline || !process.isAlive()) {
        throw new IOException("the fake Manager's process does not listen");
      }
      try {
        Thread.sleep(10);
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        throw new IOException(stop);
      }
    }
  }

  @Override
  public void kill() throws IOException {
    Process running = process;
    if (running == null) {
      return;
    }
    running.destroyForcibly();
    try {
      if (!running.waitFor(5, TimeUnit.SECONDS)) {
        throw new IOException("the fake Manager's process does not die");
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
    Files.deleteIfExists(Path.of(path));
  }

  @Override
  public void close() throws IOException {
    kill();
  }
}
