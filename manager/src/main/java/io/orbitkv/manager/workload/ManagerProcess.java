package io.orbitkv.manager.workload;

import io.orbitkv.client.Answer;
import io.orbitkv.client.ClientOptions;
import io.orbitkv.client.ControlClient;
import io.orbitkv.client.control.Health;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.manager.cli.Failure;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A Manager in a process of its own, with its socket and its journal in one folder. */
public final class ManagerProcess implements AutoCloseable {
  private static final int START_SECONDS = 60;

  private final Process process;
  private final Path dir;
  private final long startNanos;
  private final Duration startCpu;

  private ManagerProcess(Process process, Path dir, long startNanos, Duration startCpu) {
    this.process = process;
    this.dir = dir;
    this.startNanos = startNanos;
    this.startCpu = startCpu;
  }

  /**
   * Starts one and waits until it serves.
   *
   * @param dir an existing folder; its path may have 80 bytes
   * @param flags of {@code orbitkv manager}, without socket and journal; no HTTP unless they say so
   * @param javaOptions further flags for its JVM
   * @throws Failure if it does not serve in time, with the end of its log
   */
  public static ManagerProcess start(Path dir, List<String> flags, List<String> javaOptions) {
    return start(
        dir, flags, (arguments, log) -> Children.start(arguments, javaOptions, log, false));
  }

  /** Makes a process of a daemon's arguments, with its output in a log. */
  @FunctionalInterface
  public interface Launch {
    Process start(List<String> arguments, Path log);
  }

  /**
   * Starts one in another way and waits until it serves.
   *
   * @param dir an existing folder; its path may have 80 bytes
   * @param flags of {@code orbitkv manager}, without socket and journal; no HTTP unless they say so
   * @throws Failure if it does not serve in time, with the end of its log
   */
  public static ManagerProcess start(Path dir, List<String> flags, Launch launch) {
    long start = System.nanoTime();
    ManagerProcess manager = launch(dir, flags, launch);
    try {
      long served = manager.awaitServing(start + TimeUnit.SECONDS.toNanos(START_SECONDS));
      Duration cpu = manager.process.info().totalCpuDuration().orElse(Duration.ZERO);
      return new ManagerProcess(manager.process, dir, served - start, cpu);
    } catch (RuntimeException failed) {
      Children.stop(manager.process);
      throw failed;
    }
  }

  /**
   * Begins to start one, without waiting for anything.
   *
   * @param dir an existing folder; its path may have 80 bytes
   * @param flags as of {@link #start(Path, List, Launch)}
   */
  public static ManagerProcess launch(Path dir, List<String> flags, Launch launch) {
    List<String> arguments = new ArrayList<>();
    arguments.add("manager");
    arguments.addAll(List.of("--socket", socket(dir), "--journal", journal(dir).toString()));
    if (!flags.contains("--http-addr")) {
      arguments.addAll(List.of("--http-addr", "off"));
    }
    arguments.addAll(flags);
    return new ManagerProcess(launch.start(arguments, log(dir)), dir, 0, Duration.ZERO);
  }

  /** Its socket. */
  public String socket() {
    return socket(dir);
  }

  /** The directory of its journal. */
  public Path journal() {
    return journal(dir);
  }

  /** What it and its JVM said. */
  public Path log() {
    return log(dir);
  }

  /** From the start of the process to its first answer; 0 if nobody waited for that. */
  public long startNanos() {
    return startNanos;
  }

  /**
   * Processor time that it had used when it served first, to hundredths of a second; zero if nobody
   * waited for that.
   */
  public Duration startCpu() {
    return startCpu;
  }

  /**
   * How it is.
   *
   * @throws Failure if it does not say
   */
  public Health health() {
    try (ControlClient client = connect().orThrow()) {
      return client.health().orThrow();
    } catch (IllegalStateException refused) {
      throw new Failure("the Manager does not say how it is: " + refused.getMessage(), "", refused);
    }
  }

  /** The number of its process. */
  public long pid() {
    return process.pid();
  }

  /** Whether the process is there. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /**
   * What it ended with.
   *
   * @throws IllegalThreadStateException if it has not ended
   */
  public int exitCode() {
    return process.exitValue();
  }

  /** Ends it as {@code kill -9} does, and waits until it is gone. */
  public void kill() {
    Children.kill(process);
  }

  /** Stops it in order; its journal stays. */
  @Override
  public void close() {
    Children.stop(process);
  }

  private long awaitServing(long deadlineNanos) {
    String last = "it does not answer";
    while (System.nanoTime() < deadlineNanos) {
      switch (connect()) {
        case Answer.Ok<ControlClient>(ControlClient client) -> {
          try (client) {
            if (client.health() instanceof Answer.Ok<Health>) {
              return System.nanoTime();
            }
          }
        }
        case Answer.Refused<ControlClient>(Refusal refusal) -> last = refusal.message();
      }
      if (!process.isAlive()) {
        throw new Failure(
            "the Manager ended with " + process.exitValue() + " before it served",
            Children.tail(log()));
      }
      try {
        Thread.sleep(5);
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        throw new Failure("interrupted while the Manager started", "", stop);
      }
    }
    throw new Failure(
        "the Manager did not serve within %d s: %s".formatted(START_SECONDS, last),
        Children.tail(log()));
  }

  private Answer<ControlClient> connect() {
    return ControlClient.connect(ClientOptions.of(socket()).withClientName("orbitkv-workload"));
  }

  private static String socket(Path dir) {
    return dir.resolve("m.sock").toString();
  }

  private static Path journal(Path dir) {
    return dir.resolve("journal");
  }

  private static Path log(Path dir) {
    return dir.resolve("manager.log");
  }
}
