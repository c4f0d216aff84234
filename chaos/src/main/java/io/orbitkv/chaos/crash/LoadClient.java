package io.orbitkv.chaos.crash;

import io.orbitkv.chaos.crash.Told.Promise;
import io.orbitkv.client.Answer;
import io.orbitkv.client.Lease;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.Ticket;
import io.orbitkv.client.control.Registered;
import io.orbitkv.client.wire.BlockOutcome;
import io.orbitkv.client.wire.Category;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryAnswer;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.EngineShape;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** An engine of this process that uses the Java client. */
final class LoadClient implements LoadEngine {
  private static final int PAGES = 2 * LoadMix.PREFIX_BLOCKS;
  private static final int PAGE_TOKENS = 16;
  private static final int LAYERS = 2;
  private static final int LAYER_BYTES = 4_096;
  private static final String NAMESPACE = "crash";
  private static final int NOTICE_MILLIS = 1_000;

  private final Engine engine;
  private final LoadMix mix;
  private final Told told;
  private final Random random;
  private final AtomicLong operations = new AtomicLong();
  private final AtomicLong deadRefused = new AtomicLong();
  private final AtomicLong journalFull = new AtomicLong();
  private volatile boolean stop;
  private volatile boolean pause;
  private volatile boolean paused;
  private volatile @Nullable Throwable failure;
  private volatile long servedEpoch;
  private @Nullable Lease oldLease;

  LoadClient(String socket, int number, LoadMix mix, long seed, Told told) {
    engine = Engine.connect(socket, shape("load-" + number), true);
    this.mix = mix;
    this.told = told;
    random = new Random(seed + number);
  }

  /** An engine of the load's kind. */
  static EngineShape shape(String instance) {
    return new EngineShape(instance, NAMESPACE, LAYERS, LAYER_BYTES, PAGE_TOKENS, PAGES);
  }

  @Override
  public void run() {
    try {
      long sessionSeen = 0;
      while (!stop) {
        paused = pause;
        if (pause) {
          Thread.sleep(1);
          continue;
        }
        Optional<Registered> registered = engine.client().registered();
        if (registered.isPresent() && registered.get().sessionId() != sessionSeen) {
          sessionSeen = registered.get().sessionId();
          told.add(new Promise.SessionOpened(sessionSeen, registered.get().epoch()));
          refuseTheDead(registered.get());
        }
        if (converse()) {
          operations.incrementAndGet();
          Thread.sleep(mix.pauseMillis());
        } else {
          Thread.sleep(2);
        }
      }
    } catch (RuntimeException | InterruptedException | AssertionError broken) {
      failure = broken;
    }
  }

  /**
   * A lease of a daemon that is dead must be refused by its successor, also when its epoch is
   * forged.
   */
  private void refuseTheDead(Registered registered) {
    Lease old = oldLease;
    if (old == null || old.epoch() == registered.epoch()) {
      return;
    }
    for (Lease forged : List.of(old, new Lease(old.leaseId(), registered.epoch()))) {
      RestoreResult result =
          engine
              .client()
              .restore(
                  forged,
                  new RestoreRequest(
                      "old", List.of(new RestoreRequest.GroupPages(0, 0, IntRun.of(0)))));
      if (result instanceof RestoreResult.Refused(Refusal refusal)
          && refusal.category() == Category.STALE) {
        deadRefused.incrementAndGet();
      }
      if (result instanceof RestoreResult.Restored) {
        throw new AssertionError(
            "lease " + old + " of a dead epoch was honoured in epoch " + registered.epoch());
      }
    }
    oldLease = null;
  }

  /** One request of a conversation; false if the daemon was away. */
  private boolean converse() {
    long first = mix.firstBlock(random.nextInt(mix.conversations()));
    int count = 1 + random.nextInt(LoadMix.PREFIX_BLOCKS);
    KeyRun keys = engine.keys(first, count);
    String name = "r-" + random.nextInt(1_000_000);
    QueryResult answer =
        query(new QueryRequest(0, 0, name, List.of(new QueryRequest.GroupKeys(0, keys))));
    int hits = 0;
    switch (answer) {
      case QueryResult.Ready(Lease lease, QueryAnswer found) -> {
        servedEpoch = lease.epoch();
        told.add(new Promise.Leased(lease.leaseId(), lease.epoch()));
        hits = found.groups().getFirst().hitBlocks();
        restore(lease, name, first, hits);
      }
      case QueryResult.Miss _ -> {}
      case QueryResult.Refused(Refusal refusal) -> {
        note(refusal);
        return false;
      }
      case QueryResult.Loading(Ticket ticket) -> {
        var _ = engine.client().cancel(ticket);
        return false;
      }
      case QueryResult.Cancelled _, QueryResult.Discovered _ ->
          throw new AssertionError("no answer to a plain query: " + answer);
    }
    return hits == count || publish(keys.slice(hits, count - hits), name, first + hits);
  }

  private QueryResult query(QueryRequest request) {
    if (mix.ticketMillis() == 0) {
      return engine.client().query(request);
    }
    QueryResult answer = engine.client().queryWaiting(request, mix.ticketMillis());
    return answer instanceof QueryResult.Loading(Ticket ticket)
        ? engine.client().awaitAnswer(ticket, mix.ticketMillis() + NOTICE_MILLIS)
        : answer;
  }

  private void restore(Lease lease, String name, long first, int hits) {
    for (int page = 0; page < hits; page++) {
      engine.wipe(page);
    }
    RestoreResult result =
        engine
            .client()
            .restore(
                lease,
                new RestoreRequest(
                    name, List.of(new RestoreRequest.GroupPages(0, 0, IntRun.range(0, hits)))));
    if (result instanceof RestoreResult.Restored) {
      told.add(new Promise.Restored(lease.leaseId(), lease.epoch()));
      for (int page = 0; page < hits; page++) {
        engine.verify(page, first + page, name);
      }
    }
    if (oldLease == null && random.nextInt(8) == 0) {
      oldLease = lease;
    } else if (engine.client().release(lease) instanceof Answer.Ok<Boolean>(Boolean wasOpen)
        && wasOpen) {
      told.add(new Promise.Released(lease.leaseId(), lease.epoch()));
    }
  }

  private boolean publish(KeyRun keys, String name, long first) {
    for (int i = 0; i < keys.count(); i++) {
      engine.fill(PAGES / 2 + i, first + i);
    }
    long epoch = engine.client().registered().map(Registered::epoch).orElse(0L);
    PublishResult result =
        engine
            .client()
            .publish(new PublishRequest(0, name, keys, IntRun.range(PAGES / 2, keys.count())));
    if (result instanceof PublishResult.Refused(Refusal refusal)) {
      note(refusal);
    }
    if (!(result instanceof PublishResult.Published published) || epoch == 0) {
      return false;
    }
    long epochNow = engine.client().registered().map(Registered::epoch).orElse(epoch + 1);
    for (int i = 0; i < keys.count(); i++) {
      if (published.reply().outcome(i) == BlockOutcome.STORED) {
        told.add(new Promise.Stored(HexFormat.of().formatHex(keys.key(i)), epoch, epochNow));
      }
    }
    return true;
  }

  private void note(Refusal refusal) {
    if (refusal.is(RefusalCode.JOURNAL_FULL)) {
      if (refusal.category() != Category.RESOURCE) {
        throw new AssertionError("JOURNAL_FULL is of another category: " + refusal);
      }
      journalFull.incrementAndGet();
    } else if (refusal.category() == Category.USER || refusal.category() == Category.INTERNAL) {
      throw new AssertionError("an honest request was refused: " + refusal);
    }
  }

  @Override
  public long servedEpoch() {
    return servedEpoch;
  }

  @Override
  public long operations() {
    return operations.get();
  }

  @Override
  public long deadRefused() {
    return deadRefused.get();
  }

  @Override
  public long journalFull() {
    return journalFull.get();
  }

  @Override
  public @Nullable Throwable failure() {
    return failure;
  }

  @Override
  public void pause(boolean wanted) {
    pause = wanted;
  }

  @Override
  public boolean paused() {
    return paused;
  }

  @Override
  public void stop() {
    stop = true;
  }

  @Override
  public void close() {
    stop = true;
    engine.close();
  }
}
