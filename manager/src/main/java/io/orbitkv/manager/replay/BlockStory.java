package io.orbitkv.manager.replay;

import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.replay.BlockLife.Slice;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Set;

/** {@code --block ID} and {@code --why-key HEX}: the lives of the blocks of a key. */
public final class BlockStory {
  private static final int MAX_SHOWN = 100;

  private final JournalDir dir;
  private final Times times;
  private final PrintWriter out;

  public BlockStory(JournalDir dir, Times times, PrintWriter out) {
    this.dir = dir;
    this.times = times;
    this.out = out;
  }

  /**
   * Tells of one block.
   *
   * @throws Failure when there never was such a block
   */
  public void ofBlock(long blockId, Progress progress) throws IOException {
    Histories histories = new Histories(KeyMatcher.NONE, Set.of(blockId), true);
    Names names = Why.collect(dir, histories, progress);
    if (histories.lives.isEmpty()) {
      throw new Failure(
          "no fact makes a block " + blockId,
          "Ids of blocks are in the SlicesReserved facts: orbitkv replay %s --events --type"
                  .formatted(dir.path())
              + " SlicesReserved");
    }
    print(histories, names);
  }

  /**
   * Tells of all blocks that ever had a key.
   *
   * @param hex the key's first hexadecimal digits or all of them
   * @throws Failure when there never was one
   */
  public void ofKey(String hex, Progress progress) throws IOException {
    Histories histories = new Histories(KeyMatcher.prefix(hex), Set.of(), true);
    Names names = Why.collect(dir, histories, progress);
    if (histories.lives.isEmpty()) {
      throw new Failure(
          "no block's key begins with " + hex,
          "The keys that a request missed are in: orbitkv replay %s --why REQUEST"
              .formatted(dir.path()));
    }
    print(histories, names);
  }

  private void print(Histories histories, Names names) {
    int shown = 0;
    for (BlockLife life : histories.lives) {
      if (shown++ == MAX_SHOWN) {
        out.printf("and %s more blocks%n", Words.count(histories.lives.size() - MAX_SHOWN));
        break;
      }
      print(life, names);
    }
    if (histories.tooMany) {
      out.println("note: there were more; give more digits of the key");
    }
    out.flush();
  }

  private void print(BlockLife life, Names names) {
    out.printf(
        "Block %d: namespace %s, %s%n  key %s%n",
        life.blockId,
        names.namespaceName(life.namespaceId),
        names.group(life.namespaceId, life.groupId),
        life.keyHex);
    if (life.fromCheckpoint) {
      out.printf(
          "  begun at position %s, before the journal's oldest fact%n",
          Words.count(life.begun.position()));
    }
    life.slices.forEach(
        (shard, slice) -> {
          if (slice.publishId != 0) {
            print(life, shard, slice, names);
          }
        });
    if (!life.fromCheckpoint) {
      out.println(life.sealed == null ? "  never sealed" : "  sealed at " + mark(life.sealed));
    }
    life.verifyFailures.forEach(
        failure ->
            out.printf(
                "  failed verification in restore %d: shard %d, sum %s instead of %s%n",
                failure.restoreId(),
                failure.shard(),
                Words.hex(failure.actual()),
                Words.hex(failure.expected())));
    if (life.leases > 0 && life.lastLease != null) {
      out.printf(
          "  leased %s, last at %s%s%n",
          Words.count(life.leases, "time"),
          mark(life.lastLease),
          life.lastLeaseRequest.isEmpty() ? "" : " for request " + life.lastLeaseRequest);
    }
    if (life.ended == null) {
      out.println("  there at the end of the journal");
    } else if (life.eviction == null) {
      out.println("  gone at " + mark(life.ended) + ": every publish was aborted");
    } else {
      out.printf(
          "  evicted at %s: %s%s%n",
          mark(life.ended),
          Words.of(life.eviction.cause()),
          life.eviction.forSessionId() == 0
              ? ""
              : ", for "
                  + names.who(life.eviction.forSessionId())
                  + (life.eviction.forRequest().isEmpty()
                      ? ""
                      : " and request " + life.eviction.forRequest()));
    }
  }

  private void print(BlockLife life, int shard, Slice slice, Names names) {
    out.printf(
        "  %sbegun at %s by %s%s, publish %d: %s%n",
        life.slicesNeeded == 1 ? "" : "shard " + shard + " ",
        mark(slice.reserved),
        names.who(slice.sessionId),
        slice.request.isEmpty() ? "" : " for request " + slice.request,
        slice.publishId,
        slice.published != null
            ? "published at " + mark(slice.published)
            : slice.aborted != null ? "aborted at " + mark(slice.aborted) : "not ended");
  }

  private String mark(BlockLife.Mark mark) {
    return Words.count(mark.position()) + ", " + times.text(mark.atMicros());
  }
}
