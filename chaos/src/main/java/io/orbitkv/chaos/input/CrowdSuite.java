package io.orbitkv.chaos.input;

import io.orbitkv.chaos.Daemons;
import io.orbitkv.chaos.Progress;
import io.orbitkv.chaos.engine.Residue;
import io.orbitkv.client.control.FrameType;
import io.orbitkv.client.control.FrameWriter;
import io.orbitkv.client.control.Hello;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.manager.workload.ManagerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Many connections at once: some that send their first frame a byte at a time and never end it, and
 * thousands that come and go. An honest engine beside them does not notice, the slow ones are put
 * out, and nothing is held in the end.
 */
public final class CrowdSuite {
  private static final int SLOW = 32;
  private static final List<String> FLAGS =
      List.of("--pool-size", "1mb", "--http-addr", "127.0.0.1:0", "--hello-timeout", "3s");
  private static final long OUT_MILLIS = 12_000;
  private static final long DRAIN_MILLIS = 5_000;

  private CrowdSuite() {}

  /**
   * What was done and seen.
   *
   * @param connects connections that came and went
   * @param slow connections that never finished a frame
   * @param slowestOutMillis until the last of those was closed
   * @param witnessRounds query, restore and release of an honest engine
   * @param witnessSlowestMicros the slowest of them
   */
  public record Report(
      int connects,
      int slow,
      long slowestOutMillis,
      long witnessRounds,
      long witnessSlowestMicros) {}

  /**
   * Runs the suite.
   *
   * @param dir an empty folder with a short path
   */
  public static Report run(Daemons daemons, Path dir, int connects)
      throws IOException, NativeException, InterruptedException {
    ManagerProcess manager = daemons.start(dir, FLAGS);
    List<RawControl> slow = new ArrayList<>();
    try (Witness witness = new Witness(manager.socket())) {
      Residue baseline = Residue.settled(manager);
      Thread thread = Thread.ofPlatform().daemon().name("witness").start(witness);
      byte[] hello =
          FrameWriter.encode(FrameType.HELLO, 1, new Hello("slow", List.of(1)).encode(), 0);
      long start = System.nanoTime();
      for (int i = 0; i < SLOW; i++) {
        slow.add(new RawControl(manager.socket()));
      }
      int sent = 0;
      for (int i = 0; i < connects; i++) {
        Progress.step("connects", i, connects);
        new RawControl(manager.socket()).close();
        if (i % (1 + connects / 16) == 0) {
          sent = trickle(slow, hello, sent);
        }
      }
      while (!allOut(slow)) {
        if (System.nanoTime() - start > TimeUnit.MILLISECONDS.toNanos(OUT_MILLIS)) {
          throw new AssertionError("connections that never finish a frame are still open");
        }
        Thread.sleep(100);
        sent = trickle(slow, hello, sent);
      }
      long out = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      witness.stop();
      thread.join(10_000);
      if (witness.failure() != null) {
        throw new AssertionError("an honest engine noticed", witness.failure());
      }
      awaitDrained(manager, baseline);
      return new Report(connects, SLOW, out, witness.rounds(), witness.slowestMicros());
    } finally {
      slow.forEach(RawControl::close);
      manager.close();
    }
  }

  /** One more byte of the frame, but for the last, to each. */
  private static int trickle(List<RawControl> slow, byte[] hello, int sent) {
    if (sent >= hello.length - 1) {
      return sent;
    }
    for (RawControl connection : slow) {
      var _ = connection.send(Arrays.copyOfRange(hello, sent, sent + 1), List.of());
    }
    return sent + 1;
  }

  private static boolean allOut(List<RawControl> slow) {
    slow.removeIf(
        connection -> {
          boolean out = connection.await(0) instanceof RawControl.Reply.Closed;
          if (out) {
            connection.close();
          }
          return out;
        });
    return slow.isEmpty();
  }

  private static void awaitDrained(ManagerProcess manager, Residue baseline)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DRAIN_MILLIS);
    for (Residue left = Residue.of(manager); !left.within(baseline); left = Residue.of(manager)) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("left behind: %s, was %s".formatted(left, baseline));
      }
      Thread.sleep(20);
    }
  }
}
