package io.orbitkv.manager.cli;

import io.orbitkv.manager.replay.Progress;
import io.orbitkv.manager.replay.Words;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** How far a long pass is, on standard error; silent where that is no terminal. */
final class ProgressBar implements Progress, AutoCloseable {
  private static final long QUIET_NANOS = 700_000_000L;
  private static final long EVERY_NANOS = 150_000_000L;
  private static final int WIDTH = 30;
  private static final String CLEAR_LINE = "\r\033[K";

  private final PrintStream err;
  private final boolean shown;
  private final long begun = System.nanoTime();
  private long last = begun;
  private boolean drawn;

  /** A bar where standard error is a terminal. */
  static ProgressBar onTerminal() {
    return new ProgressBar(System.err, isTerminal());
  }

  ProgressBar(PrintStream err, boolean shown) {
    this.err = err;
    this.shown = shown;
  }

  private static boolean isTerminal() {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
      return target.startsWith("/dev/pts/")
          || target.startsWith("/dev/tty")
          || target.equals("/dev/console");
    } catch (IOException | UnsupportedOperationException e) {
      return false; // no /proc: nobody to draw for
    }
  }

  @Override
  public void at(long facts, long doneBytes, long totalBytes) {
    long now = System.nanoTime();
    if (!shown || now - begun < QUIET_NANOS || now - last < EVERY_NANOS) {
      return;
    }
    last = now;
    drawn = true;
    err.print(CLEAR_LINE + line(facts, doneBytes, totalBytes, now - begun));
    err.flush();
  }

  static String line(long facts, long doneBytes, long totalBytes, long nanos) {
    double done = totalBytes == 0 ? 1 : Math.min(1.0, (double) doneBytes / totalBytes);
    int full = (int) (done * WIDTH);
    double seconds = nanos / 1e9;
    String left =
        done < 0.001
            ? ""
            : ", " + Words.duration((long) (seconds * 1e6 * (1 - done) / done)) + " left";
    return String.format(
        Locale.ROOT,
        "[%s%s] %3.0f %%  %s, %s/s%s",
        "#".repeat(full),
        " ".repeat(WIDTH - full),
        done * 100,
        Words.count(facts, "fact"),
        Words.count((long) (facts / Math.max(1e-9, seconds))),
        left);
  }

  @Override
  public void hide() {
    if (drawn) {
      drawn = false;
      err.print(CLEAR_LINE);
      err.flush();
    }
  }

  @Override
  public void close() {
    hide();
  }
}
