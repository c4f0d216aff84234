package io.orbitkv.chaos.engine;

import com.fasterxml.jackson.databind.JsonNode;
import io.orbitkv.chaos.Operator;
import io.orbitkv.manager.workload.ManagerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What a daemon holds on behalf of engines: nothing of it may be left when they are dead.
 *
 * @param sessions open sessions
 * @param leases open leases
 * @param tickets open tickets
 * @param publishes running publishes
 * @param restores running restores
 * @param unsealed blocks that are reserved and not sealed, or evicted and pinned
 * @param budgetBytes bytes that leases, tickets and restores are charged with
 * @param descriptors memfds, eventfds and Unix sockets that the daemon's process has open; its
 *     files and the operator's TCP connections come and go for other reasons
 * @param sharedMappings mappings of memfds in the daemon's address space, but for the JVM's heap
 * @param sharedMemoryFiles entries of /dev/shm
 */
public record Residue(
    long sessions,
    long leases,
    long tickets,
    long publishes,
    long restores,
    long unsealed,
    long budgetBytes,
    long descriptors,
    long sharedMappings,
    long sharedMemoryFiles) {

  private static final int SAMPLES = 10;

  /** Counts now; the daemon must serve HTTP. */
  public static Residue of(ManagerProcess manager) throws IOException {
    JsonNode status = Operator.of(manager).status();
    Path proc = Path.of("/proc", Long.toString(manager.pid()));
    long mappings;
    try (Stream<String> maps = Files.lines(proc.resolve("maps"))) {
      mappings =
          maps.filter(line -> line.contains("/memfd:") && !line.contains("java_heap")).count();
    }
    JsonNode blocks = status.required("blocks");
    return new Residue(
        status.required("sessions").asLong(),
        status.required("leases").asLong(),
        status.required("tickets").asLong(),
        status.required("publishes").asLong(),
        status.required("restores").asLong(),
        blocks.required("live").asLong() - blocks.required("sealed").asLong(),
        status.required("budget").required("usedBytes").asLong(),
        descriptors(proc),
        mappings,
        count(Path.of("/dev/shm")));
  }

  /**
   * The least that is held over half a second, so that nothing that is just being let go of counts.
   */
  public static Residue settled(ManagerProcess manager) throws IOException, InterruptedException {
    Residue least = of(manager);
    for (int i = 0; i < SAMPLES; i++) {
      Thread.sleep(50);
      least = least.least(of(manager));
    }
    return least;
  }

  private Residue least(Residue other) {
    return new Residue(
        Math.min(sessions, other.sessions),
        Math.min(leases, other.leases),
        Math.min(tickets, other.tickets),
        Math.min(publishes, other.publishes),
        Math.min(restores, other.restores),
        Math.min(unsealed, other.unsealed),
        Math.min(budgetBytes, other.budgetBytes),
        Math.min(descriptors, other.descriptors),
        Math.min(sharedMappings, other.sharedMappings),
        Math.min(sharedMemoryFiles, other.sharedMemoryFiles));
  }

  /** Whether nothing more is held than in {@code baseline}. */
  public boolean within(Residue baseline) {
    return equals(least(baseline));
  }

  private static long descriptors(Path proc) throws IOException {
    Set<String> unix = new HashSet<>();
    try (Stream<String> lines = Files.lines(proc.resolve("net/unix"))) {
      lines.skip(1).forEach(line -> unix.add("socket:[" + line.strip().split(" +", -1)[6] + "]"));
    }
    List<Path> open;
    try (Stream<Path> entries = Files.list(proc.resolve("fd"))) {
      open = entries.toList();
    }
    long count = 0;
    for (Path each : open) {
      try {
        String link = Files.readSymbolicLink(each).toString();
        count +=
            link.startsWith("/memfd:") || link.startsWith("anon_inode:") || unix.contains(link)
                ? 1
                : 0;
      } catch (NoSuchFileException closed) {
        // Between the list and this look: it does not count.
      }
    }
    return count;
  }

  private static long count(Path dir) throws IOException {
    try (Stream<Path> entries = Files.list(dir)) {
      return entries.count();
    }
  }
}
