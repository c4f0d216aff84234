package io.orbitkv.chaos.ssd;

import io.orbitkv.chaos.Progress;
import io.orbitkv.chaos.crash.Load;
import io.orbitkv.chaos.crash.LoadMix;
import io.orbitkv.journal.Replay;
import io.orbitkv.manager.workload.ManagerProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * A daemon under load on which faults of the disk are played: two engines that keep the disk busy,
 * a third that needs no disk and is measured, and an operator who looks.
 */
final class Stage implements AutoCloseable {
  private static final int CLIENTS = 2;
  private static final int MEASURED_AGAIN = 5;
  private static final double MOST_RATIO = 2;

  /** Somewhat more than SSD has room for, much more than memory has. */
  private static final LoadMix MIX = new LoadMix(100, 2_000, 1);

  final Load load;
  final TierProbe probe;
  private final ManagerProcess manager;
  private final Steady steady;
  private final Thread steadyThread;
  private final List<String> measured = new ArrayList<>();
  private int repeated;

  Stage(ManagerProcess manager, long seed) throws IOException {
    this.manager = manager;
    this.probe = new TierProbe(manager);
    this.steady = new Steady(manager.socket());
    this.load = new Load(manager.socket(), manager.journal(), CLIENTS, MIX, seed);
    this.steadyThread = Thread.ofPlatform().daemon().name("steady").start(steady);
  }

  /** Plays a fault; what queries that need no disk took without it and with it. */
  interface Play {
    Latencies[] run() throws IOException, InterruptedException;
  }

  /** How queries that need no disk fared. */
  private record Measured(
      String fault, long struck, double soundP99Micros, double faultyP99Micros) {
    double ratio() {
      return faultyP99Micros / soundP99Micros;
    }

    @Override
    public String toString() {
      return "%s: %d times, p99 %.0f to %.0f us (%.2f)"
          .formatted(fault, struck, soundP99Micros, faultyP99Micros, ratio());
    }
  }

  /**
   * Measures until one measurement is within the limit: whatever else runs on the machine only adds
   * to what is seen.
   *
   * @param struck how often a fault has struck so far
   */
  void measure(String fault, LongSupplier struck, Play play)
      throws IOException, InterruptedException {
    for (int attempt = 1; ; attempt++) {
      long before = struck.getAsLong();
      Measured one;
      try {
        Latencies[] seen = play.run();
        one =
            new Measured(
                fault, struck.getAsLong() - before, seen[0].p99Micros(), seen[1].p99Micros());
        if (seen[0].count() == 0 || seen[1].count() == 0 || one.struck == 0) {
          throw new AssertionError(
              "nothing was tried: %s; the engine that needs no disk missed %d times and is at %s"
                  .formatted(one, steady.missed(), Arrays.toString(steadyThread.getStackTrace())));
        }
      } catch (AssertionError broken) {
        throw new AssertionError(fault + ": " + broken.getMessage(), broken);
      }
      Progress.say(one);
      if (one.ratio() <= MOST_RATIO) {
        measured.add(one.toString());
        return;
      }
      if (attempt == MEASURED_AGAIN) {
        throw new AssertionError(
            "queries that need no disk waited, " + attempt + " times measured: " + one);
      }
      repeated++;
    }
  }

  /** Notes how long queries take that need no disk, for some time. */
  void watch(Latencies into, int millis) throws InterruptedException {
    var _ = steady.take();
    Thread.sleep(millis);
    into.add(steady.take());
    check();
  }

  /** The engines pause, and nothing stays under way; then they go on. */
  void drain() throws IOException, InterruptedException {
    load.pause();
    probe.awaitDrained();
    load.resume();
  }

  /** Blocks go to SSD and come back. */
  void expectTierAtWork() throws IOException, InterruptedException {
    long written = probe.figure("writtenBytes");
    long read = probe.figure("readBytes");
    probe.awaitGrowth("writtenBytes", written, "orbitkv_ssd_device_written_bytes_total");
    probe.awaitGrowth("readBytes", read, "orbitkv_ssd_device_read_bytes_total");
  }

  /** What was measured, and how often it had to be measured again. */
  List<String> measured() {
    return List.copyOf(measured);
  }

  int repeated() {
    return repeated;
  }

  /** Sends everybody away, looks for anything left over, stops the daemon and folds its journal. */
  Replay end() throws IOException, InterruptedException {
    load.stop();
    steady.stop();
    steadyThread.join(10_000);
    check();
    close();
    probe.awaitEmpty();
    manager.close();
    load.checkJournal("the end");
    return load.fold(manager.journal());
  }

  private void check() {
    steady.check("a faulty disk");
    load.check("a faulty disk");
    if (!manager.isAlive()) {
      throw new AssertionError("the daemon died; see " + manager.log());
    }
  }

  @Override
  public void close() {
    load.close();
    steady.close();
  }
}
