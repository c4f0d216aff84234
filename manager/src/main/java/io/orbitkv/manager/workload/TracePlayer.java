package io.orbitkv.manager.workload;

import io.orbitkv.client.Answer;
import io.orbitkv.client.Lease;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.Ticket;
import io.orbitkv.client.wire.BlockOutcome;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.PublishReply;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryAnswer;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.manager.cli.Failure;
import java.util.List;

/**
 * Plays requests as an engine would, one after the other: asks how much of the input is cached,
 * restores that and checks every byte of it, gives the lease back, and publishes the rest.
 *
 * <p>An answer that a lone, well-behaved engine must never get is a {@link Failure}.
 */
public final class TracePlayer {
  private static final int WAIT_MILLIS = 60_000;

  private final Engine engine;
  private final boolean waits;
  private final PlayTotals totals = new PlayTotals();

  public TracePlayer(Engine engine) {
    this(engine, false);
  }

  /**
   * @param waits whether queries wait for blocks that must be read from SSD
   */
  public TracePlayer(Engine engine, boolean waits) {
    this.engine = engine;
    this.waits = waits;
  }

  public PlayTotals totals() {
    return totals;
  }

  /**
   * Plays one request.
   *
   * @param name the engine's name of it, 1 to 64 visible ASCII characters
   * @return how many of its blocks were hits
   */
  public int play(TraceRequest request, String name) {
    int blocks = request.blockCount();
    if (blocks > engine.shape().pages()) {
      throw new IllegalArgumentException(
          blocks + " blocks for an engine of " + engine.shape().pages() + " pages");
    }
    int hits = 0;
    if (blocks > 0) {
      KeyRun keys = engine.keys(request);
      hits = restore(request, name, keys);
      if (hits < blocks) {
        publish(request, name, keys, hits);
      }
    }
    totals.requests++;
    totals.inputTokens += request.inputTokens();
    totals.askedBlocks += blocks;
    totals.hitBlocks += hits;
    return hits;
  }

  private int restore(TraceRequest request, String name, KeyRun keys) {
    QueryRequest query = new QueryRequest(0, 0, name, List.of(new QueryRequest.GroupKeys(0, keys)));
    long start = System.nanoTime();
    QueryResult result = ask(query);
    totals.queries.add(System.nanoTime() - start);
    return switch (result) {
      case QueryResult.Ready(Lease lease, QueryAnswer answer) -> {
        int hits = hits(answer, request, name);
        restore(request, name, lease, hits);
        release(lease, name);
        yield hits;
      }
      case QueryResult.Miss(_, int reasonCode) -> {
        if (reasonCode != 0) {
          throw unexpected(name, "query", result);
        }
        yield 0;
      }
      case QueryResult.Refused(Refusal refusal) ->
          throw Engine.refused("the query of request " + name, refusal);
      case QueryResult.Discovered _, QueryResult.Loading _, QueryResult.Cancelled _ ->
          throw unexpected(name, "query", result);
    };
  }

  private QueryResult ask(QueryRequest query) {
    if (!waits) {
      return engine.client().query(query);
    }
    QueryResult result = engine.client().queryWaiting(query, WAIT_MILLIS);
    if (result instanceof QueryResult.Loading(Ticket ticket)) {
      totals.waits++;
      return engine.client().awaitAnswer(ticket, WAIT_MILLIS);
    }
    return result;
  }

  private int hits(QueryAnswer answer, TraceRequest request, String name) {
    int boundary = answer.boundaryToken();
    int hits = boundary / engine.shape().pageTokens();
    if (hits < 1 || hits > request.blockCount() || boundary % engine.shape().pageTokens() != 0) {
      throw new Failure(
          "request %s: the Manager's boundary %d is not behind one of its %d blocks"
              .formatted(name, boundary, request.blockCount()),
          "");
    }
    return hits;
  }

  private void restore(TraceRequest request, String name, Lease lease, int hits) {
    for (int page = 0; page < hits; page++) {
      engine.wipe(page);
    }
    RestoreRequest restore =
        new RestoreRequest(
            name, List.of(new RestoreRequest.GroupPages(0, 0, IntRun.range(0, hits))));
    long start = System.nanoTime();
    RestoreResult result = engine.client().restore(lease, restore);
    totals.restores.add(System.nanoTime() - start);
    totals.restoredBytes +=
        switch (result) {
          case RestoreResult.Restored _ -> bytes(hits);
          case RestoreResult.Refused(Refusal refusal) ->
              throw Engine.refused("the restore of request " + name, refusal);
          case RestoreResult.Failed(Refusal refusal) ->
              throw Engine.refused("to finish the restore of request " + name, refusal);
          case RestoreResult.Cancelled _ -> throw unexpected(name, "restore", result);
        };
    for (int page = 0; page < hits; page++) {
      engine.verify(page, request.block(page), name);
    }
    totals.checkedBytes += bytes(hits);
  }

  private void release(Lease lease, String name) {
    switch (engine.client().release(lease)) {
      case Answer.Ok<Boolean>(Boolean open) -> {
        if (!open) {
          throw new Failure("request " + name + ": its lease had ended before it was released", "");
        }
      }
      case Answer.Refused<Boolean>(Refusal refusal) ->
          throw Engine.refused("the release of request " + name, refusal);
    }
  }

  private void publish(TraceRequest request, String name, KeyRun keys, int hits) {
    int missing = request.blockCount() - hits;
    for (int page = hits; page < request.blockCount(); page++) {
      engine.fill(page, request.block(page));
    }
    PublishRequest publish =
        new PublishRequest(0, name, keys.slice(hits, missing), IntRun.range(hits, missing));
    long start = System.nanoTime();
    PublishResult result = engine.client().publish(publish);
    totals.publishes.add(System.nanoTime() - start);
    switch (result) {
      case PublishResult.Published(PublishReply reply, _, _) -> {
        totals.publishedBlocks += reply.count(BlockOutcome.STORED);
        totals.presentBlocks += reply.count(BlockOutcome.ALREADY);
        totals.refusedBlocks +=
            reply.count(BlockOutcome.REFUSED) + reply.count(BlockOutcome.ELSEWHERE);
        totals.publishedBytes += bytes(reply.count(BlockOutcome.STORED));
      }
      case PublishResult.Refused(Refusal refusal) ->
          throw Engine.refused("the publish of request " + name, refusal);
      case PublishResult.Failed(Refusal refusal) ->
          throw Engine.refused("to finish the publish of request " + name, refusal);
      case PublishResult.Cancelled _ -> throw unexpected(name, "publish", result);
    }
  }

  private long bytes(int blocks) {
    return (long) blocks * engine.shape().blockBytes();
  }

  private static Failure unexpected(String name, String operation, Object result) {
    return new Failure("request " + name + ": its " + operation + " was answered by " + result, "");
  }
}
