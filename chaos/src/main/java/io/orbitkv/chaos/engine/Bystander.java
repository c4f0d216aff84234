package io.orbitkv.chaos.engine;

import io.orbitkv.client.Answer;
import io.orbitkv.client.Lease;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryAnswer;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.EngineShape;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An honest engine that stores new blocks all the time, in memory that others have just lost, gets
 * them back at once and some time later, and compares every byte. A copy that goes on after its
 * extents were freed writes into these.
 */
final class Bystander implements Runnable, AutoCloseable {
  private static final int BLOCKS = 2;

  /**
   * A block takes as much of the pool as one of a {@link Victim}, so that it lies where that was.
   */
  private static final int LAYER_BYTES = 1 << 20;

  private static final int PAUSE_MILLIS = 20;

  /** So many rounds later blocks are looked at once more. */
  private static final int LATER = 20;

  private final Engine engine;
  private volatile boolean stop;
  private volatile @Nullable Throwable failure;
  private volatile long rounds;

  Bystander(String socket) {
    engine =
        Engine.connect(
            socket, new EngineShape("bystander", "honest", 2, LAYER_BYTES, 16, 2 * BLOCKS), false);
  }

  @Override
  public void run() {
    try {
      for (long round = 0; !stop; round++) {
        store(round * BLOCKS);
        restore(round * BLOCKS);
        if (round >= LATER) {
          restore((round - LATER) * BLOCKS);
        }
        rounds = round + 1;
        Thread.sleep(PAUSE_MILLIS);
      }
    } catch (RuntimeException | InterruptedException | AssertionError noticed) {
      failure = noticed;
    }
  }

  private void store(long first) {
    KeyRun keys = engine.keys(first, BLOCKS);
    for (int i = 0; i < BLOCKS; i++) {
      engine.fill(i, first + i);
    }
    if (!(engine.client().publish(new PublishRequest(0, "b", keys, IntRun.range(0, BLOCKS)))
        instanceof PublishResult.Published)) {
      throw new AssertionError("an honest engine could not publish");
    }
  }

  private void restore(long first) {
    KeyRun keys = engine.keys(first, BLOCKS);
    for (int i = 0; i < BLOCKS; i++) {
      engine.wipe(BLOCKS + i);
    }
    QueryResult found =
        engine
            .client()
            .query(new QueryRequest(0, 0, "b", List.of(new QueryRequest.GroupKeys(0, keys))));
    if (!(found instanceof QueryResult.Ready(Lease lease, QueryAnswer answer))) {
      return; // Larger engines took the room meanwhile.
    }
    int hits = answer.groups().getFirst().hitBlocks();
    RestoreResult restored =
        engine
            .client()
            .restore(
                lease,
                new RestoreRequest(
                    "b", List.of(new RestoreRequest.GroupPages(0, 0, IntRun.range(BLOCKS, hits)))));
    if (!(restored instanceof RestoreResult.Restored)) {
      throw new AssertionError("an honest engine could not restore: " + restored);
    }
    for (int i = 0; i < hits; i++) {
      engine.verify(BLOCKS + i, first + i, "b");
    }
    if (!(engine.client().release(lease) instanceof Answer.Ok<Boolean>)) {
      throw new AssertionError("an honest engine could not release");
    }
  }

  /**
   * Says if it noticed anything.
   *
   * @throws AssertionError with the reason
   */
  void check(String when) {
    Throwable noticed = failure;
    if (noticed != null) {
      throw new AssertionError(when + ": an honest engine noticed", noticed);
    }
  }

  long rounds() {
    return rounds;
  }

  void stop() {
    stop = true;
  }

  @Override
  public void close() {
    stop = true;
    engine.close();
  }
}
