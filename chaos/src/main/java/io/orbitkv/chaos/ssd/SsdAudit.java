package io.orbitkv.chaos.ssd;

import io.orbitkv.chaos.crash.Load;
import io.orbitkv.chaos.crash.LoadMix;
import io.orbitkv.client.Answer;
import io.orbitkv.client.Lease;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.Ticket;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.QueryAnswer;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.manager.workload.BlockPattern;
import io.orbitkv.manager.workload.Engine;
import java.util.List;

/**
 * Asks a daemon that was just started for blocks one knows of: those that have to be on its SSD are
 * restored and every byte is compared, the others must not be found. Nobody else may ask for
 * anything meanwhile.
 */
final class SsdAudit implements AutoCloseable {
  private static final int BATCH = LoadMix.PREFIX_BLOCKS;
  private static final int TICKET_MILLIS = 20_000;

  private final Engine engine;
  private long asked;

  SsdAudit(String socket) {
    engine = Engine.connect(socket, Load.shape("audit"), false);
  }

  /** Asks whether one block is there, only to be answered. */
  void firstQuery(long block) {
    QueryResult answer = engine.client().discover(request(List.of(block)));
    if (answer instanceof QueryResult.Refused(var refusal)) {
      throw new AssertionError("the first query was refused: " + refusal);
    }
  }

  /**
   * Restores blocks that have to be there.
   *
   * @throws AssertionError naming one that is not
   */
  void expectHits(List<Long> blocks) {
    for (int from = 0; from < blocks.size(); from += BATCH) {
      List<Long> batch = blocks.subList(from, Math.min(blocks.size(), from + BATCH));
      switch (ask(batch)) {
        case QueryResult.Ready(Lease lease, QueryAnswer answer) -> {
          int hits = answer.groups().getFirst().hitBlocks();
          restore(lease, batch, hits);
          if (hits < batch.size()) {
            throw missing(batch.get(hits), "it is not found");
          }
        }
        case QueryResult.Miss _ -> throw missing(batch.getFirst(), "it is a miss");
        case QueryResult.Discovered _,
            QueryResult.Loading _,
            QueryResult.Cancelled _,
            QueryResult.Refused _ ->
            throw missing(batch.getFirst(), "the query ended otherwise");
      }
    }
  }

  /**
   * Asks for blocks that must not be there.
   *
   * @throws AssertionError naming one that is
   */
  void expectMisses(List<Long> blocks) {
    for (long block : blocks) {
      if (!(ask(List.of(block)) instanceof QueryResult.Miss)) {
        throw new AssertionError(
            "block " + block + " is found after the restart and the journal knows no copy of it");
      }
    }
  }

  private QueryResult ask(List<Long> blocks) {
    QueryResult answer = engine.client().queryWaiting(request(blocks), TICKET_MILLIS);
    return answer instanceof QueryResult.Loading(Ticket ticket)
        ? engine.client().awaitAnswer(ticket, TICKET_MILLIS)
        : answer;
  }

  private QueryRequest request(List<Long> blocks) {
    byte[] packed = new byte[blocks.size() * BlockPattern.KEY_BYTES];
    for (int i = 0; i < blocks.size(); i++) {
      BlockPattern.key(0, blocks.get(i), packed, i * BlockPattern.KEY_BYTES);
    }
    KeyRun keys = KeyRun.of(packed, BlockPattern.KEY_BYTES);
    return new QueryRequest(0, 0, "audit-" + asked++, List.of(new QueryRequest.GroupKeys(0, keys)));
  }

  private void restore(Lease lease, List<Long> blocks, int hits) {
    for (int page = 0; page < hits; page++) {
      engine.wipe(page);
    }
    RestoreRequest pages =
        new RestoreRequest(
            "audit", List.of(new RestoreRequest.GroupPages(0, 0, IntRun.range(0, hits))));
    if (!(engine.client().restore(lease, pages) instanceof RestoreResult.Restored)) {
      throw missing(blocks.getFirst(), "it is found and cannot be restored");
    }
    for (int page = 0; page < hits; page++) {
      engine.verify(page, blocks.get(page), "audit");
    }
    if (!(engine.client().release(lease) instanceof Answer.Ok<Boolean>)) {
      throw new AssertionError("a lease could not be given back");
    }
  }

  private static AssertionError missing(long block, String how) {
    return new AssertionError(
        "the journal says that block %d lies on SSD; after the restart %s".formatted(block, how));
  }

  @Override
  public void close() {
    engine.close();
  }
}
