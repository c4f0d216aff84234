package io.orbitkv.manager.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.IntConsumer;

/**
 * How far something is, in one line of the error output that is overwritten; nothing where that is
 * no terminal.
 */
public final class ProgressLine implements IntConsumer, AutoCloseable {
  private static final int BAR = 30;
  private static final long EVERY_NANOS = 100_000_000;

  private final String label;
  private final int total;
  private final boolean terminal = isTerminal();
  private long shownNanos = System.nanoTime();

  /**
   * @param total what {@link #accept} is told in the end
   */
  public ProgressLine(String label, int total) {
    this.label = label;
    this.total = total;
  }

  @Override
  public void accept(int done) {
    accept(done, "");
  }

  /** Shows how far it is, with a few words behind. */
  public void accept(int done, String words) {
    long now = System.nanoTime();
    if (!terminal || now - shownNanos < EVERY_NANOS) {
      return;
    }
    shownNanos = now;
    System.err.print("\r\033[K" + line(label, done, total, words));
    System.err.flush();
  }

  private static boolean isTerminal() {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException unknown) {
      return false;
    }
  }

  static String line(String label, int done, int total, String words) {
    int filled = (int) ((long) BAR * done / Math.max(1, total));
    return String.format(
            Locale.ROOT,
            "%s [%s%s] %,d of %,d  %s",
            label,
            "#".repeat(filled),
            ".".repeat(BAR - filled),
            done,
            total,
            words)
        .stripTrailing();
  }

  /** Takes the line away. */
  @Override
  public void close() {
    if (terminal) {
      System.err.print("\r\033[K");
      System.err.flush();
    }
  }
}
