package io.orbitkv.chaos.input;

import io.orbitkv.client.Answer;
import io.orbitkv.client.Lease;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.EngineShape;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** An honest engine that works beside the hostile one and must not notice it. */
final class Witness implements Runnable, AutoCloseable {
  private static final int BLOCKS = 8;

  private final Engine engine;
  private volatile boolean stop;
  private volatile @Nullable Throwable failure;
  private volatile long slowestMicros;
  private final AtomicLong rounds = new AtomicLong();

  Witness(String socket) {
    engine =
        Engine.connect(
            socket, new EngineShape("witness", "honest", 2, 1024, 16, 2 * BLOCKS), false);
    for (int i = 0; i < BLOCKS; i++) {
      engine.fill(i, i);
    }
    KeyRun keys = engine.keys(0, BLOCKS);
    if (!(engine.client().publish(new PublishRequest(0, "witness", keys, IntRun.range(0, BLOCKS)))
        instanceof PublishResult.Published)) {
      throw new AssertionError("the honest engine could not publish");
    }
  }

  @Override
  public void run() {
    try {
      KeyRun keys = engine.keys(0, BLOCKS);
      QueryRequest query =
          new QueryRequest(0, 0, "witness", List.of(new QueryRequest.GroupKeys(0, keys)));
      RestoreRequest restore =
          new RestoreRequest(
              "witness",
              List.of(new RestoreRequest.GroupPages(0, 0, IntRun.range(BLOCKS, BLOCKS))));
      while (!stop) {
        long start = System.nanoTime();
        if (!(engine.client().query(query) instanceof QueryResult.Ready(Lease lease, var answer))
            || answer.groups().getFirst().hitBlocks() != BLOCKS
            || !(engine.client().restore(lease, restore) instanceof RestoreResult.Restored)
            || !(engine.client().release(lease) instanceof Answer.Ok<Boolean>(Boolean wasOpen))
            || !wasOpen) {
          throw new AssertionError("the honest engine was refused, or lost its lease to another");
        }
        slowestMicros =
            Math.max(slowestMicros, TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start));
        for (int i = 0; i < BLOCKS; i++) {
          engine.verify(BLOCKS + i, i, "witness");
          engine.wipe(BLOCKS + i);
        }
        rounds.incrementAndGet();
        Thread.sleep(1);
      }
    } catch (RuntimeException | InterruptedException | AssertionError noticed) {
      failure = noticed;
    }
  }

  @Nullable Throwable failure() {
    return failure;
  }

  long slowestMicros() {
    return slowestMicros;
  }

  long rounds() {
    return rounds.get();
  }

  @Override
  public void close() {
    stop = true;
    engine.close();
  }

  void stop() {
    stop = true;
  }
}
