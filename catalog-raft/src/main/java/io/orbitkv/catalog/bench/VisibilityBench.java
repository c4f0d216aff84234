package io.orbitkv.catalog.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Starts owner processes that stream to a replica in this one, all 16 catalog shards each. */
public final class VisibilityBench {
  /** Five young JVMs on few processors compile for about as long. */
  private static final int WARM_UP_SECONDS = 15;

  private VisibilityBench() {}

  /**
   * Measures.
   *
   * @throws IOException when an owner cannot be started or fails
   */
  public static VisibilityFigures run(int owners, int changesPerSecond, int seconds)
      throws IOException, InterruptedException {
    int all = owners * changesPerSecond * (seconds + WARM_UP_SECONDS);
    try (BenchReplica replica = new BenchReplica(all)) {
      List<Process> processes = new ArrayList<>();
      try {
        for (int i = 0; i < owners; i++) {
          processes.add(
              start("owner" + i, replica.port(), changesPerSecond, seconds + WARM_UP_SECONDS));
        }
        long expected = 0;
        for (Process process : processes) {
          String printed =
              new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
          if (!process.waitFor(10, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IOException("an owner failed; its messages are above");
          }
          expected += Long.parseLong(printed.strip());
        }
        Latencies latencies = replica.latencies(owners * changesPerSecond * WARM_UP_SECONDS);
        return new VisibilityFigures(owners, changesPerSecond, latencies, replica.rows(), expected);
      } finally {
        processes.forEach(Process::destroyForcibly);
      }
    }
  }

  private static Process start(String node, int port, int rate, int seconds) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx256m");
    command.add("-XX:+UseSerialGC");
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("--sun-misc-unsafe-memory-access=allow");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(BenchOwner.class.getName());
    command.add(node);
    command.add(Integer.toString(port));
    command.add(Integer.toString(rate));
    command.add(Integer.toString(seconds));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }
}
