package io.orbitkv.manager.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.orbitkv.manager.cli.Failure;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The program fio, the floor of {@code bench ssd}: what this disk gives to a plain C program. */
final class Fio {
  static final String HOW_TO_INSTALL = "no floor: fio is not installed (apt-get install fio)";
  private static final long GRACE_SECONDS = 30;

  private final String program;

  private Fio(String program) {
    this.program = program;
  }

  /** The one on the PATH. */
  static Optional<Fio> find() {
    String path = System.getenv().getOrDefault("PATH", "");
    for (String folder : path.split(File.pathSeparator, -1)) {
      if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, "fio"))) {
        return Optional.of(new Fio(Path.of(folder, "fio").toString()));
      }
    }
    return Optional.empty();
  }

  /**
   * The command of a run.
   *
   * @param engine {@code io_uring} or {@code libaio}
   * @param offset where its range of the file begins
   * @param seconds how long, at least 1
   */
  static List<String> command(
      String program,
      DiskLoad load,
      Path file,
      long offset,
      long bytes,
      String engine,
      boolean direct,
      int seconds) {
    List<String> command =
        new ArrayList<>(
            List.of(
                program,
                "--name=floor",
                "--filename=" + file,
                "--offset=" + offset,
                "--size=" + bytes,
                "--bs=" + load.bytes(),
                "--rw=" + (load.random() ? "rand" : "") + (load.write() ? "write" : "read"),
                "--iodepth=" + load.depth(),
                "--ioengine=" + engine,
                "--direct=" + (direct ? 1 : 0),
                "--runtime=" + seconds,
                "--time_based=1",
                "--norandommap=1",
                "--randrepeat=0",
                "--scramble_buffers=0",
                "--allow_file_create=0",
                "--output-format=json"));
    if (engine.equals("io_uring")) {
      command.addAll(List.of("--fixedbufs=1", "--registerfiles=1"));
    }
    return List.copyOf(command);
  }

  /**
   * Runs it.
   *
   * @throws Failure if it cannot be run or fails
   */
  LoadResult run(
      DiskLoad load,
      Path file,
      long offset,
      long bytes,
      String engine,
      boolean direct,
      int seconds) {
    List<String> command = command(program, load, file, offset, bytes, engine, direct, seconds);
    try {
      Path output = Files.createTempFile(file.toAbsolutePath().getParent(), "fio", ".json");
      try {
        Process process =
            new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(Redirect.to(output.toFile()))
                .start();
        try {
          if (!process.waitFor(seconds + GRACE_SECONDS, TimeUnit.SECONDS)
              || process.exitValue() != 0) {
            throw new Failure(
                "fio failed: " + Files.readString(output).strip(), String.join(" ", command));
          }
        } finally {
          process.destroyForcibly();
        }
        return parse(Files.readString(output), load.write());
      } finally {
        Files.delete(output);
      }
    } catch (IOException failed) {
      throw new Failure("fio cannot be run: " + failed.getMessage(), "", failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new Failure("interrupted", "", interrupted);
    }
  }

  /** Reads its JSON, which may follow lines of warnings. */
  static LoadResult parse(String output, boolean write) throws IOException {
    int start = output.startsWith("{") ? 0 : output.indexOf("\n{") + 1;
    JsonNode job = new ObjectMapper().readTree(output.substring(start)).at("/jobs/0");
    JsonNode side = job.path(write ? "write" : "read");
    double seconds = side.path("runtime").asDouble() / 1e3;
    double bytes = side.path("io_bytes").asDouble();
    if (seconds <= 0 || bytes <= 0 || job.path("error").asInt() != 0) {
      throw new IOException("its output has no result: " + output.strip());
    }
    double cpuShare = (job.path("usr_cpu").asDouble() + job.path("sys_cpu").asDouble()) / 100;
    return new LoadResult(bytes / seconds, cpuShare * seconds * 1e9 / (bytes / 1e9));
  }
}
