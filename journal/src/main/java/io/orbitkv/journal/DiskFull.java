package io.orbitkv.journal;

import java.io.IOException;
import java.util.Locale;

/**
 * Tells a disk without room from one that fails; Java has only the operating system's text for it.
 */
final class DiskFull {
  private DiskFull() {}

  static boolean is(IOException e) {
    String message = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
    return message.contains("no space left") || message.contains("quota exceeded");
  }
}
