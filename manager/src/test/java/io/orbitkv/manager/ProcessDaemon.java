package io.orbitkv.manager;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** {@code orbitkv manager} in a process of its own, which can be stopped and killed. */
public final class ProcessDaemon implements AutoCloseable {
  private static final long START_NANOS = 60_000_000_000L;
  private static final List<String> JVM_OPTIONS =
      List.of(
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow",
          "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
          "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
          "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
          "-Dchronicle.announcer.disable=true",
          "-XX:+UseSerialGC",
          "-Xmx256m");

  private final Path folder;
  private final List<String> options;
  private final List<String> jvmOptions = new ArrayList<>(JVM_OPTIONS);
  private int starts;
  private @Nullable Process process;

  /**
   * @param options beside socket, journal and pool
   */
  public ProcessDaemon(Path folder, String... options) {
    this.folder = folder;
    this.options = List.of(options);
  }

  /** Gives the JVM of later starts one more option. */
  public void withJvmOption(String option) {
    jvmOptions.add(option);
  }

  public String socketPath() {
    return folder.resolve("s").toString();
  }

  /** Starts it and waits until it serves. */
  public void start() throws IOException {
    launch();
    awaitServing();
  }

  /** Waits until it serves. */
  public void awaitServing() throws IOException {
    Path log = log(starts);
    Process started = running();
    long deadline = System.nanoTime() + START_NANOS;
    while (!Files.readString(log).contains(" serving ")) {
      if (!started.isAlive() || System.nanoTime() > deadline) {
        throw new IOException("the daemon did not start:\n" + Files.readString(log));
      }
      pause();
    }
  }

  /** Starts it and waits for nothing. */
  public void launch() throws IOException {
    Path log = log(++starts);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of("io.orbitkv.manager.Main", "manager"));
    command.addAll(List.of("--socket", socketPath()));
    command.addAll(List.of("--journal", folder.resolve("journal").toString()));
    command.addAll(List.of("--pool-size", "32mb", "--journal-part-size", "16mb"));
    if (!options.contains("--http-addr")) {
      command.addAll(List.of("--http-addr", "off"));
    }
    command.addAll(options);
    process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .directory(folder.toFile())
            .start();
  }

  /** Whether it runs, or how it ended. */
  public String state() {
    return running().isAlive() ? "it runs" : "it ended with " + running().exitValue();
  }

  /** What it wrote since the last start. */
  public String output() throws IOException {
    return Files.readString(log(starts));
  }

  /** Kills it with SIGKILL and waits for its end. */
  public void kill() {
    running().destroyForcibly();
    await(10);
  }

  /** Sends SIGTERM; returns the exit code. */
  public int terminate(int limitSeconds) {
    running().destroy();
    return await(limitSeconds);
  }

  @Override
  public void close() {
    Process started = process;
    if (started != null && started.isAlive()) {
      kill();
    }
  }

  private Process running() {
    Process started = process;
    if (started == null) {
      throw new IllegalStateException("not started");
    }
    return started;
  }

  private int await(int limitSeconds) {
    try {
      if (!running().waitFor(limitSeconds, TimeUnit.SECONDS)) {
        throw new AssertionError("the daemon did not end within " + limitSeconds + " s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
    return running().exitValue();
  }

  private Path log(int start) {
    return folder.resolve("log-" + start);
  }

  private static void pause() {
    try {
      Thread.sleep(20);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
