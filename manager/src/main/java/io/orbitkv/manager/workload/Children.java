package io.orbitkv.manager.workload;

import io.orbitkv.manager.cli.Failure;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Processes of {@code orbitkv} that this one starts. Whatever ends this process, an interrupt
 * included, ends them too.
 */
public final class Children {
  private static final int STOP_SECONDS = 10;
  private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(Children::stopAll, "stop-children"));
  }

  private static volatile boolean stopping;

  private Children() {}

  /** Whether this process is ending, by a signal perhaps. */
  public static boolean stopping() {
    return stopping;
  }

  private static void stopAll() {
    stopping = true;
    RUNNING.forEach(Process::destroy);
    RUNNING.forEach(Children::stop);
    ScratchDir.deleteOpen();
  }

  /**
   * Starts {@code orbitkv ARGUMENTS}.
   *
   * @param javaOptions further flags for its JVM
   * @param log where its error output goes, and its output unless it is piped
   * @param pipe whether its output is read by this process
   * @throws Failure if it cannot be started
   */
  public static Process start(
      List<String> arguments, List<String> javaOptions, Path log, boolean pipe) {
    return start(builder(arguments, javaOptions), log, pipe);
  }

  /**
   * What starts {@code orbitkv ARGUMENTS}.
   *
   * @param javaOptions further flags for its JVM
   */
  public static ProcessBuilder builder(List<String> arguments, List<String> javaOptions) {
    List<String> command = new ArrayList<>();
    String launcher = System.getenv("ORBITKV_LAUNCHER");
    String classPath = System.getProperty("java.class.path", "");
    if (launcher == null) {
      command.add(Path.of(System.getProperty("java.home", ""), "bin", "java").toString());
      command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
      command.addAll(javaOptions);
      command.addAll(List.of("-cp", classPath, "io.orbitkv.manager.Main"));
    } else {
      command.add(launcher);
    }
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("ORBITKV_BUILD", "never");
    builder.environment().put("ORBITKV_CLASSPATH", classPath);
    String inherited = builder.environment().getOrDefault("ORBITKV_JAVA_OPTS", "");
    builder
        .environment()
        .put("ORBITKV_JAVA_OPTS", (inherited + " " + String.join(" ", javaOptions)).strip());
    return builder;
  }

  /**
   * Starts any other command.
   *
   * @param log where its error output goes, and its output unless it is piped
   * @param pipe whether its output is read by this process
   * @throws Failure if it cannot be started
   */
  public static Process start(ProcessBuilder builder, Path log, boolean pipe) {
    File file = log.toFile();
    builder.redirectError(Redirect.appendTo(file));
    builder.redirectOutput(pipe ? Redirect.PIPE : Redirect.appendTo(file));
    try {
      Process process = builder.start();
      RUNNING.add(process);
      if (!pipe) {
        process.getOutputStream().close();
      }
      return process;
    } catch (IOException failed) {
      throw new Failure(
          "cannot start " + builder.command().getFirst() + ": " + failed.getMessage(),
          "see that it exists and may be run",
          failed);
    }
  }

  /** Asks a process to end, then makes it; returns when it is gone. */
  public static void stop(Process process) {
    process.destroy();
    if (!await(process, STOP_SECONDS)) {
      process.destroyForcibly();
      await(process, STOP_SECONDS);
    }
    RUNNING.remove(process);
  }

  /**
   * Ends a process by SIGKILL; returns when it is gone.
   *
   * @throws Failure if the system does not end it
   */
  public static void kill(Process process) {
    process.destroyForcibly();
    if (!await(process, STOP_SECONDS)) {
      throw new Failure("process " + process.pid() + " does not die", "");
    }
  }

  /**
   * Waits until a process is gone.
   *
   * @return whether it is
   */
  public static boolean await(Process process, int seconds) {
    boolean interrupted = false;
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    try {
      for (; ; ) {
        try {
          boolean gone =
              process.waitFor(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
          if (gone) {
            RUNNING.remove(process);
          }
          return gone;
        } catch (InterruptedException again) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** The last lines of a log, for a person who is told that a process failed. */
  public static String tail(@Nullable Path log) {
    if (log == null) {
      return "";
    }
    try {
      List<String> lines = Files.readAllLines(log);
      return String.join("\n  ", lines.subList(Math.max(0, lines.size() - 8), lines.size()));
    } catch (IOException unreadable) {
      return log + " cannot be read: " + unreadable;
    }
  }
}
