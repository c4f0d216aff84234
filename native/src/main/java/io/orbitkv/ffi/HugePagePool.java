package io.orbitkv.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The host's reserved huge pages of one size.
 *
 * @param pageBytes the size of a page
 * @param total how many are reserved
 * @param free how many of those are free
 */
public record HugePagePool(long pageBytes, long total, long free) {
  private static final Path POOLS = Path.of("/sys/kernel/mm/hugepages");
  private static final String PREFIX = "hugepages-";
  private static final String SUFFIX = "kB";

  /** Every size that the kernel offers, smallest first; empty where it offers none. */
  public static List<HugePagePool> all() throws IOException {
    if (!Files.isDirectory(POOLS)) {
      return List.of();
    }
    List<HugePagePool> pools = new ArrayList<>();
    try (Stream<Path> folders = Files.list(POOLS)) {
      for (Path folder : folders.toList()) {
        String name = folder.toFile().getName();
        if (name.startsWith(PREFIX) && name.endsWith(SUFFIX)) {
          String kibibytes = name.substring(PREFIX.length(), name.length() - SUFFIX.length());
          pools.add(
              new HugePagePool(
                  Long.parseLong(kibibytes) * 1024,
                  number(folder.resolve("nr_hugepages")),
                  number(folder.resolve("free_hugepages"))));
        }
      }
    }
    pools.sort(Comparator.comparingLong(HugePagePool::pageBytes));
    return List.copyOf(pools);
  }

  private static long number(Path file) throws IOException {
    return Long.parseLong(Files.readString(file).strip());
  }
}
