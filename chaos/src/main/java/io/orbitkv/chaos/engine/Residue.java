package io.orbitkv.chaos.engine;

import io.orbitkv.client.Answer;
import io.orbitkv.client.ClientOptions;
import io.orbitkv.client.ControlClient;
import io.orbitkv.client.control.Sessions;
import io.orbitkv.manager.workload.ManagerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What a daemon holds on behalf of engines: nothing of it may be left when they are dead.
 *
 * @param sessions open sessions
 * @param leases open leases
 * @param tickets open tickets
 * @param descriptors open file descriptors of the daemon's process
 * @param sharedMappings mappings of memfds in the daemon's address space
 * @param sharedMemoryFiles entries of /dev/shm
 */
public record Residue(
    int sessions,
    int leases,
    int tickets,
    long descriptors,
    long sharedMappings,
    long sharedMemoryFiles) {

  private static final int SAMPLES = 10;

  /** Counts now. */
  public static Residue of(ManagerProcess manager) throws IOException {
    int sessions = 0;
    int leases = 0;
    int tickets = 0;
    try (ControlClient control =
        ControlClient.connect(ClientOptions.of(manager.socket())).orThrow()) {
      Answer<Sessions> answer = control.sessions();
      for (Sessions.Session session : answer.orThrow().sessions()) {
        sessions++;
        leases += session.leases();
        tickets += session.tickets();
      }
    }
    Path proc = Path.of("/proc", Long.toString(manager.pid()));
    long mappings;
    try (Stream<String> maps = Files.lines(proc.resolve("maps"))) {
      mappings = maps.filter(line -> line.contains("/memfd:")).count();
    }
    return new Residue(
        sessions, leases, tickets, count(proc.resolve("fd")), mappings, count(Path.of("/dev/shm")));
  }

  /**
   * The least that is held over half a second, so that nothing that is just being let go of counts.
   */
  public static Residue settled(ManagerProcess manager) throws IOException, InterruptedException {
    Residue least = of(manager);
    for (int i = 0; i < SAMPLES; i++) {
      Thread.sleep(50);
      Residue now = of(manager);
      least =
          new Residue(
              Math.min(least.sessions, now.sessions),
              Math.min(least.leases, now.leases),
              Math.min(least.tickets, now.tickets),
              Math.min(least.descriptors, now.descriptors),
              Math.min(least.sharedMappings, now.sharedMappings),
              Math.min(least.sharedMemoryFiles, now.sharedMemoryFiles));
    }
    return least;
  }

  /** Whether nothing more is held than in {@code baseline}. */
  public boolean within(Residue baseline) {
    return sessions <= baseline.sessions
        && leases <= baseline.leases
        && tickets <= baseline.tickets
        && descriptors <= baseline.descriptors
        && sharedMappings <= baseline.sharedMappings
        && sharedMemoryFiles <= baseline.sharedMemoryFiles;
  }

  private static long count(Path dir) throws IOException {
    try (Stream<Path> entries = Files.list(dir)) {
      return entries.count();
    }
  }
}
