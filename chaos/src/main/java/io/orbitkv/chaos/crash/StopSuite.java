package io.orbitkv.chaos.crash;

import io.orbitkv.chaos.Daemons;
import io.orbitkv.journal.FactCursor;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.Replay;
import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.state.HostEvent;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** SIGTERM to a daemon under load: it ends in time and in order, and every promise holds. */
public final class StopSuite {
  private static final int CLIENTS = 3;
  private static final long LOAD_MILLIS = 500;
  private static final int STOP_LIMIT_MILLIS = 5_000;

  private StopSuite() {}

  /**
   * What was done and seen.
   *
   * @param stops daemons that were stopped, one after the other on one journal
   * @param operations requests that clients completed
   * @param promises facts that clients were told of and that were found in the journal
   * @param slowestStopMillis longest time from the signal until the process was gone
   */
  public record Report(int stops, long operations, long promises, long slowestStopMillis) {}

  /**
   * Runs the suite.
   *
   * @param dir an empty folder with a short path
   */
  public static Report run(Daemons daemons, Path dir, int stops, long seed)
      throws IOException, InterruptedException {
    Report sum = new Report(0, 0, 0, 0);
    for (int stop = 0; stop < stops; stop++) {
      Report one = stop(daemons, dir, seed + stop);
      sum =
          new Report(
              sum.stops + 1,
              sum.operations + one.operations,
              sum.promises + one.promises,
              Math.max(sum.slowestStopMillis, one.slowestStopMillis));
    }
    return sum;
  }

  private static Report stop(Daemons daemons, Path dir, long seed)
      throws IOException, InterruptedException {
    ManagerProcess manager = daemons.start(dir, List.of("--pool-size", "2mb"));
    try (Load load = new Load(manager.socket(), manager.journal(), CLIENTS, seed)) {
      while (load.leastOperations() == 0) {
        load.check("start");
        Thread.sleep(5);
      }
      Thread.sleep(LOAD_MILLIS);
      long start = System.nanoTime();
      manager.close();
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      load.stop();
      load.checkJournal("SIGTERM");
      if (millis > STOP_LIMIT_MILLIS || manager.exitCode() != 0) {
        throw new AssertionError(
            "SIGTERM ended the daemon after %d ms with %d".formatted(millis, manager.exitCode()));
      }
      Replay replay = load.fold(manager.journal());
      try (FactCursor last =
          JournalReader.open(manager.journal()).from(replay.state().position())) {
        if (last.next() != FactCursor.Step.FACT
            || !(last.fact().event() instanceof HostEvent.EpochEnded)) {
          throw new AssertionError("the journal does not end with the epoch");
        }
      }
      return new Report(1, load.operations(), load.promises(), millis);
    } finally {
      manager.close();
    }
  }
}
