package io.orbitkv.chaos.engine;

import io.orbitkv.client.Lease;
import io.orbitkv.client.PendingPublish;
import io.orbitkv.client.PendingRestore;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.Ticket;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.EngineShape;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An engine process that is made to be killed. It does one thing again and again and says before
 * each time how long that will take, in microseconds: {@code PUBLISH 93000}.
 *
 * <p>Its copies are long, and it does not touch much memory for them, so that it dies at once: all
 * blocks are published from one page, and restored into pages that only the daemon touches.
 */
public final class Victim {
  /** What it does. */
  enum Work {
    PUBLISH,
    RESTORE,
    QUERY
  }

  private static final int LAYERS = 8;
  private static final int LAYER_BYTES = 256 << 10;

  /** Blocks of a request: 128 MiB. */
  private static final int BLOCKS = 64;

  /** Publishes that are submitted at once. */
  private static final int PUBLISHES = 3;

  /** Restores that are submitted at once, into pages of their own. */
  private static final int RESTORES = 2;

  /** What the first copy into fresh pages takes at least. */
  private static final long FIRST_MICROS = 40_000;

  private static final int PAGE_TOKENS = 16;
  private static final int MAX_TICKETS = 32;
  private static final int TICKET_MILLIS = 60_000;
  private static final long WAIT_MILLIS = 60_000;

  private Victim() {}

  /**
   * Runs until it is killed.
   *
   * @param arguments work, socket, seed
   */
  public static void main(String[] arguments) throws Exception {
    Work work = Work.valueOf(arguments[0]);
    Random random = new Random(Long.parseLong(arguments[2]));
    switch (work) {
      case QUERY -> query(arguments[1]);
      case PUBLISH -> publish(arguments[1], random);
      case RESTORE -> restore(arguments[1], random);
    }
  }

  /** New blocks each time. */
  private static void publish(String socket, Random random) {
    try (Engine engine = connect(socket)) {
      for (long last = FIRST_MICROS; ; ) {
        say(Work.PUBLISH, last);
        long start = System.nanoTime();
        List<PendingPublish> pending = new ArrayList<>();
        for (int i = 0; i < PUBLISHES; i++) {
          KeyRun keys = engine.keys(random.nextLong(1L << 40), BLOCKS);
          pending.add(engine.client().publishAsync(request(keys)).orThrow());
        }
        for (PendingPublish each : pending) {
          expectPublished(each.await(WAIT_MILLIS).orElse(null));
        }
        last = microsSince(start);
      }
    }
  }

  private static void restore(String socket, Random random) {
    try (Engine engine = connect(socket)) {
      KeyRun keys = engine.keys(random.nextLong(1L << 40), BLOCKS);
      expectPublished(engine.client().publish(request(keys)));
      QueryResult found =
          engine
              .client()
              .query(new QueryRequest(0, 0, "v", List.of(new QueryRequest.GroupKeys(0, keys))));
      if (!(found instanceof QueryResult.Ready(Lease lease, _))) {
        throw new AssertionError("what was published is not there: " + found);
      }
      for (long last = FIRST_MICROS; ; ) {
        say(Work.RESTORE, last);
        long start = System.nanoTime();
        List<PendingRestore> pending = new ArrayList<>();
        for (int i = 0; i < RESTORES; i++) {
          pending.add(
              engine.client().restoreAsync(lease, pages(1 + i * BLOCKS), false, false).orThrow());
        }
        for (PendingRestore each : pending) {
          if (!(each.await(WAIT_MILLIS).orElse(null) instanceof RestoreResult.Restored)) {
            throw new AssertionError("a restore did not succeed");
          }
        }
        last = microsSince(start);
        engine.verify(BLOCKS, 0, "v");
      }
    }
  }

  /** Waits for blocks that nobody completes. */
  private static void query(String socket) throws Exception {
    try (Halves half = Halves.connect(socket, "victim-half", 1)) {
      ArrayDeque<Ticket> tickets = new ArrayDeque<>();
      long last = 0;
      for (int i = 0; ; i++) {
        say(Work.QUERY, last);
        long start = System.nanoTime();
        QueryResult result = half.client().queryWaiting(Halves.query("v-" + i), TICKET_MILLIS);
        last = microsSince(start);
        if (!(result instanceof QueryResult.Loading(Ticket ticket))) {
          throw new AssertionError("a query for half a block is answered with " + result);
        }
        tickets.addLast(ticket);
        if (tickets.size() > MAX_TICKETS) {
          var _ = half.client().cancel(tickets.removeFirst());
        }
      }
    }
  }

  private static Engine connect(String socket) {
    EngineShape shape =
        new EngineShape("victim", "kills", LAYERS, LAYER_BYTES, PAGE_TOKENS, 1 + RESTORES * BLOCKS);
    Engine engine = Engine.connect(socket, shape, false);
    engine.fill(0, 0);
    return engine;
  }

  private static RestoreRequest pages(int first) {
    return new RestoreRequest(
        "v", List.of(new RestoreRequest.GroupPages(0, 0, IntRun.range(first, BLOCKS))));
  }

  /** Every block has the bytes of the first page. */
  private static PublishRequest request(KeyRun keys) {
    return new PublishRequest(0, "v", keys, IntRun.of(new int[BLOCKS]));
  }

  private static void expectPublished(@Nullable PublishResult result) {
    if (!(result instanceof PublishResult.Published)) {
      throw new AssertionError("a publish ended with " + result);
    }
  }

  private static void say(Work work, long lastMicros) {
    System.out.println(work + " " + lastMicros);
  }

  private static long microsSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - nanos);
  }
}
