package io.orbitkv.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The host's huge pages, reserved and transparent, and the words for not getting them. */
final class HugePages {
  private static final Path POOL = Path.of("/sys/kernel/mm/hugepages/hugepages-2048kB");
  private static final Path TRANSPARENT = Path.of("/sys/kernel/mm/transparent_hugepage");
  private static final Pattern CHOSEN = Pattern.compile("\\[([a-z_]+)]");

  private HugePages() {}

  /** Why reserved huge pages were not granted, with the count that would be needed. */
  static Shortfall shortfall(long bytes, String granted, NativeException refused) {
    long pages = Math.ceilDiv(bytes, Memfd.HUGE_PAGE_BYTES);
    long free = counter("free_hugepages");
    String available =
        free < 0
            ? "the kernel offers no 2 MiB pages"
            : free + " of " + counter("nr_hugepages") + " pages free";
    return new Shortfall(
        pages + " huge pages of 2 MiB",
        granted,
        refused.call() + " failed with " + refused.errno().symbol() + ", " + available,
        "reserve them with sysctl vm.nr_hugepages=" + pages + " or more");
  }

  /** A counter of the 2 MiB pool, or -1 where the kernel has none. */
  static long counter(String name) {
    try {
      return Long.parseLong(Files.readString(POOL.resolve(name)).strip());
    } catch (IOException | NumberFormatException unreadable) {
      return -1;
    }
  }

  /**
   * The transparent huge page mode: {@code always}, {@code madvise}, {@code never}, and for shared
   * memory some more; {@code absent} where the kernel has none.
   *
   * @param setting {@code enabled} for private memory, {@code shmem_enabled} for memfds
   */
  static String transparentMode(String setting) {
    try {
      Matcher matcher = CHOSEN.matcher(Files.readString(TRANSPARENT.resolve(setting)));
      return matcher.find() ? matcher.group(1) : "absent";
    } catch (NoSuchFileException absent) {
      return "absent";
    } catch (IOException unreadable) {
      return "unreadable";
    }
  }
}
