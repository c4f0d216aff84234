package io.orbitkv.chaos.ssd;

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
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An engine whose few blocks are used all the time and so stay in memory: none of its queries needs
 * the disk. It measures them, and restores and compares what they lease.
 */
final class Steady implements Runnable, AutoCloseable {
  private static final int BLOCKS = 8;
  private static final int PAUSE_NANOS = 300_000;

  private final Engine engine;
  private final KeyRun keys;
  private volatile boolean stop;
  private volatile @Nullable Throwable failure;
  private long[] nanos = new long[1 << 12];
  private int count;
  private long missed;

  Steady(String socket) {
    engine =
        Engine.connect(
            socket, new EngineShape("steady", "steady", 2, 4_096, 16, 2 * BLOCKS), false);
    keys = engine.keys(0, BLOCKS);
    for (int i = 0; i < BLOCKS; i++) {
      engine.fill(i, i);
    }
    publish();
  }

  @Override
  public void run() {
    QueryRequest query =
        new QueryRequest(0, 0, "steady", List.of(new QueryRequest.GroupKeys(0, keys)));
    RestoreRequest pages =
        new RestoreRequest(
            "steady", List.of(new RestoreRequest.GroupPages(0, 0, IntRun.range(BLOCKS, BLOCKS))));
    try {
      while (!stop) {
        long start = System.nanoTime();
        QueryResult answer = engine.client().query(query);
        long took = System.nanoTime() - start;
        if (answer instanceof QueryResult.Ready(Lease lease, QueryAnswer found)
            && found.groups().getFirst().hitBlocks() == BLOCKS) {
          note(took);
          restore(lease, pages);
        } else if (answer instanceof QueryResult.Refused(var refusal)) {
          throw new AssertionError("a query that needs no disk was refused: " + refusal);
        } else {
          if (answer instanceof QueryResult.Ready(Lease part, QueryAnswer _)) {
            giveBack(part);
          }
          miss();
        }
        Thread.sleep(0, PAUSE_NANOS);
      }
    } catch (RuntimeException | InterruptedException | AssertionError noticed) {
      failure = noticed;
    }
  }

  private void restore(Lease lease, RestoreRequest pages) {
    RestoreResult result = engine.client().restore(lease, pages);
    if (!(result instanceof RestoreResult.Restored)) {
      throw new AssertionError("a restore that needs no disk ended with " + result);
    }
    for (int i = 0; i < BLOCKS; i++) {
      engine.verify(BLOCKS + i, i, "steady");
      engine.wipe(BLOCKS + i);
    }
    giveBack(lease);
  }

  private void giveBack(Lease lease) {
    if (!(engine.client().release(lease) instanceof Answer.Ok<Boolean>)) {
      throw new AssertionError("a lease could not be given back");
    }
  }

  private void publish() {
    if (!(engine.client().publish(new PublishRequest(0, "steady", keys, IntRun.range(0, BLOCKS)))
        instanceof PublishResult.Published)) {
      throw new AssertionError("a publish that needs no disk was refused");
    }
  }

  private void miss() {
    publish();
    synchronized (this) {
      missed++;
    }
  }

  private synchronized void note(long took) {
    if (count == nanos.length) {
      nanos = Arrays.copyOf(nanos, 2 * count);
    }
    nanos[count++] = took;
  }

  /** How long the queries took since the last call, in nanoseconds. */
  synchronized long[] take() {
    long[] taken = Arrays.copyOf(nanos, count);
    count = 0;
    return taken;
  }

  /** How often its blocks were not all in memory. */
  synchronized long missed() {
    return missed;
  }

  /**
   * Says if it noticed anything.
   *
   * @throws AssertionError with the reason
   */
  void check(String when) {
    Throwable noticed = failure;
    if (noticed != null) {
      throw new AssertionError(when + ": an engine that needs no disk noticed", noticed);
    }
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
