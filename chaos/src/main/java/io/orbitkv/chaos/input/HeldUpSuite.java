package io.orbitkv.chaos.input;

import io.orbitkv.chaos.Daemons;
import io.orbitkv.client.wire.ChannelLayout;
import io.orbitkv.client.wire.Op;
import io.orbitkv.client.wire.Submission;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.manager.workload.EngineShape;
import io.orbitkv.manager.workload.ManagerProcess;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A client that makes the eventfd through which the daemon wakes it block, fills its counter, and
 * asks something. The thread that answers must not stay in that write.
 */
public final class HeldUpSuite {
  private static final long CLOSE_MILLIS = 5_000;

  private HeldUpSuite() {}

  /**
   * What was done and seen.
   *
   * @param attempts hostile sessions
   * @param witnessRounds query, restore and release of an honest engine beside them
   * @param witnessSlowestMicros the slowest of them
   */
  public record Report(int attempts, long witnessRounds, long witnessSlowestMicros) {}

  /**
   * Runs the suite.
   *
   * @param dir an empty folder with a short path
   */
  public static Report run(Daemons daemons, Path dir, int attempts)
      throws NativeException, InterruptedException {
    ManagerProcess manager = daemons.start(dir, List.of("--pool-size", "1mb"));
    try (Witness witness = new Witness(manager.socket())) {
      Thread thread = Thread.ofPlatform().daemon().name("witness").start(witness);
      for (int i = 0; i < attempts; i++) {
        holdUp(manager, i);
      }
      long rounds = witness.rounds();
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
      while (witness.rounds() == rounds && System.nanoTime() < deadline) {
        Thread.sleep(5);
      }
      if (witness.rounds() == rounds) {
        throw new AssertionError("an honest engine is not served any more");
      }
      witness.stop();
      thread.join(10_000);
      if (witness.failure() != null) {
        throw new AssertionError("an honest engine noticed", witness.failure());
      }
      return new Report(attempts, witness.rounds(), witness.slowestMicros());
    } finally {
      manager.close();
    }
  }

  private static void holdUp(ManagerProcess manager, int number) throws NativeException {
    EngineShape shape = new EngineShape("hostile-" + number, "hostile", 2, 1024, 16, 8);
    try (RawChannel session = RawChannel.open(manager.socket(), shape);
        Arena arena = Arena.ofConfined()) {
      session.holdUpSignal();
      Submission ping = new Submission();
      ping.set(
          Op.PING.code(),
          0,
          ChannelLayout.NO_SLOT,
          0,
          1,
          session.registered.epoch(),
          session.registered.sessionId(),
          0,
          0,
          0);
      MemorySegment descriptor = arena.allocate(ChannelLayout.DESCRIPTOR_BYTES, 8);
      ping.writeTo(descriptor, 0, 0);
      session.submit(descriptor.toArray(ValueLayout.JAVA_BYTE), false);
      if (!session.awaitClosed(CLOSE_MILLIS)) {
        throw new AssertionError(
            "attempt %d: the session is open, and the counter is %s"
                .formatted(number, session.signalIsFull() ? "full" : "read"));
      }
    }
  }
}
