package io.orbitkv.manager.replay;

import io.orbitkv.manager.replay.BlockLife.Mark;
import io.orbitkv.manager.replay.BlockLife.Slice;
import io.orbitkv.state.HostEvent.AbortReason;
import io.orbitkv.state.HostEvent.BlocksEvicted;
import io.orbitkv.state.HostEvent.NamespaceBound;
import io.orbitkv.state.HostEvent.VerifyFailed;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds why a key was missing, and says it. */
final class MissCauses {
  private final String request;
  private final Histories histories;
  private final Names names;
  private final Times times;

  /** Position of the oldest fact when the head is gone and no checkpoint tells of it; else 0. */
  private final long unknownBefore;

  /** Position of the checkpoint that the journal begins with; 0 when it is whole. */
  private final long checkpoint;

  private final SsdCauses ssd;

  MissCauses(
      String request,
      Histories histories,
      Names names,
      Times times,
      long unknownBefore,
      long checkpoint) {
    this.request = request;
    this.histories = histories;
    this.names = names;
    this.times = times;
    this.unknownBefore = unknownBefore;
    this.checkpoint = checkpoint;
    this.ssd = new SsdCauses(this, histories.ssd, names);
  }

  /** Why the key was not found by the query at a position. */
  MissCause of(RequestStory.Miss miss, String keyHex) {
    String namespace = names.namespaceName(miss.namespaceId());
    BlockLife last = null;
    for (BlockLife life : histories.ofKey(keyHex)) {
      if (life.begunBefore(miss.position())
          && life.groupId == miss.answer().groupId()
          && names.namespaceName(life.namespaceId).equals(namespace)) {
        last = life;
      }
    }
    if (last == null) {
      return unknownBefore > 0 || checkpoint > 0
          ? new MissCause.NotSinceOldest(Math.max(unknownBefore, checkpoint + 1))
          : new MissCause.NeverPublished();
    }
    if (last.namespaceId != miss.namespaceId()) {
      MissCause otherFormat = otherFormat(last, miss.namespaceId());
      if (otherFormat != null) {
        return otherFormat;
      }
    }
    MissCause onSsd = SsdCauses.of(last, miss.position());
    if (onSsd != null) {
      return onSsd;
    }
    Mark ended = last.ended;
    if (ended != null && last.endedBefore(miss.position())) {
      if (last.eviction != null) {
        return new MissCause.Evicted(last, ended);
      }
      return last.damagedInPool
          ? new MissCause.DamagedInPool(last, ended)
          : new MissCause.Aborted(last, ended);
    }
    Mark kept = last.kept;
    if (kept != null && last.unverifiedAt(miss.position())) {
      return new MissCause.NotVerified(last, kept);
    }
    return last.sealedBefore(miss.position())
        ? new MissCause.Contradiction(last)
        : new MissCause.NotSealed(last);
  }

  private @Nullable MissCause otherFormat(BlockLife life, int namespaceId) {
    NamespaceBound then = names.namespace(life.namespaceId);
    NamespaceBound now = names.namespace(namespaceId);
    if (then == null || now == null) {
      return null;
    }
    return now.format()
        .firstDifference(then.format())
        .map(mismatch -> (MissCause) new MissCause.OtherFormat(life, mismatch))
        .orElse(null);
  }

  /** The cause in capitals' place: a few words that also count it. */
  static String name(MissCause cause) {
    return switch (cause) {
      case MissCause.NeverPublished _ -> "never published";
      case MissCause.NotSinceOldest _ -> "not published since the oldest fact";
      case MissCause.NotSealed _ -> "not sealed";
      case MissCause.Aborted _ -> "publish aborted";
      case MissCause.OtherFormat _ -> "stale format";
      case MissCause.OnSsdOnly onSsd -> SsdCauses.name(onSsd);
      case MissCause.SsdGone gone -> SsdCauses.name(gone);
      case MissCause.NotVerified _ -> "not verified yet";
      case MissCause.DamagedInPool _ -> "damaged in the pool";
      case MissCause.Contradiction _ -> "sealed, yet missed";
      case MissCause.Evicted(BlockLife life, _) -> evictionName(eviction(life));
    };
  }

  private static String evictionName(BlocksEvicted eviction) {
    return switch (eviction.cause()) {
      case CAPACITY -> "evicted for room";
      case ADMISSION -> "not admitted";
      case REQUESTED -> "evicted by request";
      case VERIFY_FAILED -> "dropped, verify failed";
      case NEVER_SEALED -> "dropped, never sealed";
      case RESTART -> "lost by restart";
    };
  }

  private static BlocksEvicted eviction(BlockLife life) {
    BlocksEvicted eviction = life.eviction;
    if (eviction == null) {
      throw new IllegalStateException("block " + life.blockId + " was not evicted");
    }
    return eviction;
  }

  /** The story behind a cause, line by line. */
  List<String> explain(MissCause cause, RequestStory.Miss miss, String keyHex) {
    List<String> lines = new ArrayList<>();
    switch (cause) {
      case MissCause.NeverPublished _ -> {
        lines.add("no fact before the query names it in this namespace and group");
        hints(miss, keyHex, lines);
      }
      case MissCause.NotSinceOldest(long oldest) -> {
        lines.add(
            ("no fact from position %s up to the query names it%s; whether it was published and"
                    + " evicted before then is deleted with those facts")
                .formatted(
                    Words.count(oldest),
                    checkpoint > 0 ? ", and the checkpoint before them does not hold it" : ""));
        hints(miss, keyHex, lines);
      }
      case MissCause.NotSealed(BlockLife life) -> {
        lines.add(begun(life));
        missingShards(life, miss, lines);
        if (life.sealed != null) {
          lines.add("sealed only at " + after(life.sealed, miss));
        } else if (life.ended != null) {
          lines.add("it never was: " + ending(life) + " at " + after(life.ended, miss));
        } else {
          lines.add("it is not sealed to this day");
        }
      }
      case MissCause.Evicted(BlockLife life, Mark at) -> {
        lines.add(ending(life) + " at " + before(at, miss));
        lines.add(begun(life) + lived(life, at));
        verifyFailures(life, lines);
        ssd.noCopy(life, at, miss, lines);
        if (life.sealed == null) {
          missingShards(life, miss, lines);
        }
        again(life, miss, keyHex, lines);
      }
      case MissCause.OnSsdOnly onSsd -> ssd.explain(onSsd, miss, lines);
      case MissCause.SsdGone gone -> {
        ssd.explain(gone, miss, lines);
        again(gone.life(), miss, keyHex, lines);
      }
      case MissCause.Aborted(BlockLife life, Mark at) -> {
        lines.add("every publish of it was aborted, the last at " + before(at, miss));
        lines.add(begun(life));
        for (Slice slice : life.slices.values()) {
          lines.add("publish %d: %s".formatted(slice.publishId, abort(slice.abortReason)));
        }
        again(life, miss, keyHex, lines);
      }
      case MissCause.NotVerified(BlockLife life, Mark kept) -> {
        lines.add("the Manager had restarted and kept it in its pool at " + before(kept, miss));
        Mark verified = life.verified;
        if (verified != null && verified.position() > miss.position()) {
          lines.add("its bytes were verified only at " + after(verified, miss));
        } else if (life.ended != null) {
          lines.add("it ended before anybody looked, at " + after(life.ended, miss));
        }
        lines.add("a query that waits (WAIT) gets such a block as soon as it is verified");
        lines.add(begun(life));
      }
      case MissCause.DamagedInPool(BlockLife life, Mark at) -> {
        lines.add(
            "the Manager had restarted and found other bytes in its pool than were published, at "
                + before(at, miss));
        verifyFailures(life, lines);
        lines.add(begun(life) + lived(life, at));
        again(life, miss, keyHex, lines);
      }
      case MissCause.OtherFormat(BlockLife life, var mismatch) -> {
        lines.add(
            "published while the namespace was bound to another format: %s was %s, is %s"
                .formatted(mismatch.field(), mismatch.theirs(), mismatch.ours()));
        lines.add(begun(life));
        lines.add("bytes of one format are never given to another");
      }
      case MissCause.Contradiction(BlockLife life) -> {
        lines.add(begun(life));
        lines.add("this should not be: run orbitkv replay --verify on this journal");
      }
    }
    return lines;
  }

  private static void verifyFailures(BlockLife life, List<String> lines) {
    for (VerifyFailed failure : life.verifyFailures) {
      lines.add(
          "shard %d had the sum %s instead of %s: its bytes changed in the pool"
              .formatted(
                  failure.shard(), Words.hex(failure.actual()), Words.hex(failure.expected())));
    }
  }

  String begun(BlockLife life) {
    if (life.fromCheckpoint) {
      return "block %d was begun at position %s, before the oldest fact; by whom is deleted"
          .formatted(life.blockId, Words.count(life.begun.position()));
    }
    Slice first = firstSlice(life);
    return "block %d was begun at position %s%s"
        .formatted(
            life.blockId,
            Words.count(life.begun.position()),
            first == null ? "" : " by " + by(first));
  }

  private static @Nullable Slice firstSlice(BlockLife life) {
    Slice first = null;
    for (Slice slice : life.slices.values()) {
      if (first == null || slice.reserved.position() < first.reserved.position()) {
        first = slice;
      }
    }
    return first;
  }

  private String by(Slice slice) {
    return names.who(slice.sessionId)
        + (slice.request.isEmpty() ? "" : " for request " + slice.request);
  }

  private static String lived(BlockLife life, Mark end) {
    return life.sealed == null
        ? ", was never sealed"
        : ", sealed at position %s, and lived %s"
            .formatted(
                Words.count(life.sealed.position()),
                Words.duration(end.atMicros() - life.begun.atMicros()));
  }

  private void missingShards(BlockLife life, RequestStory.Miss miss, List<String> lines) {
    for (int shard = 0; shard < life.slicesNeeded; shard++) {
      String which = life.slicesNeeded == 1 ? "its slice" : "the slice of shard " + shard;
      Slice slice = life.slices.get(shard);
      if (slice == null || slice.reserved.position() > miss.position()) {
        lines.add(which + " was missing: nobody had begun it");
      } else if (slice.aborted != null && slice.aborted.position() < miss.position()) {
        lines.add(
            "%s was missing: publish %d of %s: %s"
                .formatted(which, slice.publishId, by(slice), abort(slice.abortReason)));
      } else if (slice.published == null || slice.published.position() > miss.position()) {
        lines.add(
            "%s was missing: publish %d of %s had begun %s before and was still copying%s"
                .formatted(
                    which,
                    slice.publishId,
                    by(slice),
                    Words.duration(miss.atMicros() - slice.reserved.atMicros()),
                    slice.published == null
                        ? ""
                        : "; it was done at " + after(slice.published, miss)));
      }
    }
  }

  private static String abort(@Nullable AbortReason reason) {
    if (reason == null) {
      return "never ended";
    }
    return switch (reason) {
      case COPY_FAILED -> "the copy failed";
      case SESSION_CLOSED -> "its session closed in the middle of the copy";
      case CANCELLED -> "it was cancelled";
      case RESTART -> "the Manager restarted in the middle of the copy";
    };
  }

  private String ending(BlockLife life) {
    BlocksEvicted eviction = life.eviction;
    if (eviction == null) {
      return "its publishes were aborted";
    }
    String forWhom =
        eviction.forSessionId() == 0
            ? ""
            : "%s%s"
                .formatted(
                    names.who(eviction.forSessionId()),
                    eviction.forRequest().isEmpty() ? "" : " for request " + eviction.forRequest());
    return switch (eviction.cause()) {
      case CAPACITY ->
          "evicted" + (forWhom.isEmpty() ? " for room" : " to make room for " + forWhom);
      case ADMISSION ->
          "the eviction policy did not admit it"
              + (forWhom.isEmpty() ? "" : " when it was published by " + forWhom);
      case REQUESTED -> "evicted because an operator or engine asked for it";
      case VERIFY_FAILED ->
          "dropped because its bytes failed verification"
              + (forWhom.isEmpty() ? "" : " in a restore of " + forWhom);
      case NEVER_SEALED -> "dropped because the other shards did not publish it in time";
      case RESTART -> "lost with the daemon's memory when the Manager restarted";
    };
  }

  /** What may have kept the key out, and whether it came later. */
  private void hints(RequestStory.Miss miss, String keyHex, List<String> lines) {
    String namespace = names.namespaceName(miss.namespaceId());
    int groupId = miss.answer().groupId();
    if (!histories.anyPublishBefore(namespace, groupId, miss.position())) {
      lines.add(
          "nothing at all had been published to %s of namespace %s: does an engine save?"
              .formatted(names.group(miss.namespaceId(), groupId), namespace));
    }
    for (BlockLife life : histories.ofKey(keyHex)) {
      if (life.begunBefore(miss.position()) && !life.endedBefore(miss.position())) {
        lines.add(
            "the same key is block %d of namespace %s, %s: namespaces and groups share nothing"
                .formatted(
                    life.blockId,
                    names.namespaceName(life.namespaceId),
                    names.group(life.namespaceId, life.groupId)));
        break;
      }
    }
    refusals(namespace, miss, lines);
    again(null, miss, keyHex, lines);
  }

  private void refusals(String namespace, RequestStory.Miss miss, List<String> lines) {
    Histories.Refusal last = null;
    long count = 0;
    for (Histories.Refusal refusal : histories.refusals) {
      if (refusal.namespace().equals(namespace) && refusal.mark().position() < miss.position()) {
        last = refusal;
        count++;
      }
    }
    if (last != null) {
      lines.add(
          "it may have been kept out: at %s %s%s"
              .formatted(
                  before(last.mark(), miss),
                  last.what(),
                  count == 1 ? "" : " (" + Words.count(count) + " such refusals before)"));
    }
  }

  /** Whether the key came (back) after the query. */
  private void again(
      @Nullable BlockLife known, RequestStory.Miss miss, String keyHex, List<String> lines) {
    String namespace = names.namespaceName(miss.namespaceId());
    for (BlockLife life : histories.ofKey(keyHex)) {
      if (life != known
          && life.groupId == miss.answer().groupId()
          && life.begun.position() > miss.position()
          && names.namespaceName(life.namespaceId).equals(namespace)) {
        Slice first = firstSlice(life);
        if (known == null && first != null && first.request.equals(request)) {
          lines.add(
              "it was new: this request published it itself, block %d at %s"
                  .formatted(life.blockId, after(life.begun, miss)));
          return;
        }
        lines.add(
            "published %sas block %d%s at %s"
                .formatted(
                    known == null ? "later " : "again ",
                    life.blockId,
                    first == null ? "" : " by " + by(first),
                    after(life.begun, miss)));
        return;
      }
    }
  }

  String before(Mark mark, RequestStory.Miss miss) {
    return "position %s, %s, %s before the query"
        .formatted(
            Words.count(mark.position()),
            times.text(mark.atMicros()),
            Words.duration(miss.atMicros() - mark.atMicros()));
  }

  String after(Mark mark, RequestStory.Miss miss) {
    return "position %s, %s after the query"
        .formatted(Words.count(mark.position()), Words.duration(mark.atMicros() - miss.atMicros()));
  }
}
