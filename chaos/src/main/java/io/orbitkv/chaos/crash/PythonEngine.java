package io.orbitkv.chaos.crash;

import io.orbitkv.chaos.crash.Told.Promise;
import io.orbitkv.manager.workload.Children;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * An engine in a process of its own that uses the Python client ({@code engine.py} beside this
 * class), and says what it is told line by line.
 */
final class PythonEngine implements LoadEngine {
  private static final String SCRIPT = "engine.py";

  /** Where the client lies in a checkout. */
  private static final Path SOURCES = Path.of("adapters", "src");

  private static final int END_SECONDS = 5;

  private final Process process;
  private final Told told;
  private final AtomicLong operations = new AtomicLong();
  private final AtomicLong deadRefused = new AtomicLong();
  private volatile long servedEpoch;
  private volatile boolean stop;
  private volatile @Nullable Throwable failure;

  private PythonEngine(Process process, Told told) {
    this.process = process;
    this.told = told;
  }

  /**
   * Starts one.
   *
   * @param dir where its script and its log go
   * @param sources what {@link #sources} found
   */
  static PythonEngine start(
      Path sources, Path dir, String socket, LoadMix mix, long seed, Told told) throws IOException {
    Path script = dir.resolve(SCRIPT);
    try (InputStream resource = PythonEngine.class.getResourceAsStream(SCRIPT)) {
      if (resource == null) {
        throw new IOException(SCRIPT + " is not on the class path");
      }
      Files.write(script, resource.readAllBytes());
    }
    ProcessBuilder builder =
        new ProcessBuilder(
            "python3",
            script.toString(),
            socket,
            "load-python",
            Long.toString(seed),
            Integer.toString(mix.conversations()));
    builder.environment().put("PYTHONPATH", sources.toString());
    builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
    return new PythonEngine(Children.start(builder, dir.resolve("python.log"), true), told);
  }

  /**
   * Where the Python client lies: in this checkout, or in the first folder of {@code PYTHONPATH}
   * that has it. Empty where there is none.
   */
  static Optional<Path> sources() {
    for (String folder : System.getenv().getOrDefault("PYTHONPATH", "").split(":", -1)) {
      if (!folder.isEmpty() && Files.isDirectory(Path.of(folder).resolve("orbitkv"))) {
        return Optional.of(Path.of(folder));
      }
    }
    try {
      Path here =
          Path.of(PythonEngine.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      for (Path at = here; at != null; at = at.getParent()) {
        if (Files.isDirectory(at.resolve(SOURCES).resolve("orbitkv"))) {
          return Optional.of(at.resolve(SOURCES));
        }
      }
      return Optional.empty();
    } catch (URISyntaxException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  @Override
  public void run() {
    try (BufferedReader output = process.inputReader()) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        take(line.split(" ", 4), line);
      }
      if (!stop && failure == null) {
        failure = new AssertionError("the Python engine ended by itself");
      }
    } catch (IOException | RuntimeException broken) {
      if (!stop) {
        failure = broken;
      }
    }
  }

  private void take(String[] words, String line) {
    switch (words[0]) {
      case "operation" -> operations.incrementAndGet();
      case "dead" -> deadRefused.incrementAndGet();
      case "session" -> told.add(new Promise.SessionOpened(number(words, 1), number(words, 2)));
      case "stored" -> told.add(new Promise.Stored(words[1], number(words, 2), number(words, 3)));
      case "leased" -> {
        told.add(new Promise.Leased(number(words, 1), number(words, 2)));
        servedEpoch = number(words, 2);
      }
      case "restored" -> told.add(new Promise.Restored(number(words, 1), number(words, 2)));
      case "released" -> told.add(new Promise.Released(number(words, 1), number(words, 2)));
      default -> failure = new AssertionError("the Python engine: " + line);
    }
  }

  private static long number(String[] words, int at) {
    return Long.parseLong(words[at]);
  }

  @Override
  public long servedEpoch() {
    return servedEpoch;
  }

  @Override
  public long operations() {
    return operations.get();
  }

  @Override
  public long deadRefused() {
    return deadRefused.get();
  }

  @Override
  public long journalFull() {
    return 0;
  }

  @Override
  public @Nullable Throwable failure() {
    return failure;
  }

  @Override
  public void pause(boolean wanted) {
    throw new UnsupportedOperationException("a Python engine cannot be held back");
  }

  @Override
  public boolean paused() {
    return false;
  }

  /** Its output is read to its end by {@link #run}. */
  @Override
  public void stop() {
    stop = true;
    try {
      OutputStream input = process.getOutputStream();
      input.close();
    } catch (IOException closed) {
      throw new UncheckedIOException(closed);
    }
  }

  @Override
  public void close() {
    stop = true;
    if (!Children.await(process, process.isAlive() ? 0 : END_SECONDS)) {
      Children.kill(process);
    }
  }
}
