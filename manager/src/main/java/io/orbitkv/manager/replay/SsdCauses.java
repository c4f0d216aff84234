package io.orbitkv.manager.replay;

import io.orbitkv.manager.replay.BlockLife.Mark;
import io.orbitkv.state.HostEvent.BlocksDemoted;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.LoadFailed;
import io.orbitkv.state.HostEvent.SsdEvicted;
import io.orbitkv.state.HostEvent.SsdSkip;
import io.orbitkv.state.HostEvent.SsdSkipped;
import io.orbitkv.state.HostEvent.TierFact;
import io.orbitkv.state.HostEvent.VerifyFailed;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the SSD tier has to do with a miss. */
final class SsdCauses {
  private final MissCauses causes;
  private final SsdHistory history;
  private final Names names;

  SsdCauses(MissCauses causes, SsdHistory history, Names names) {
    this.causes = causes;
    this.history = history;
    this.names = names;
  }

  /** The cause if the tier is one, null if it is not. */
  static @Nullable MissCause of(BlockLife life, long position) {
    SsdLife.Standing standing = life.ssd.before(position);
    Mark ended = life.ended;
    if (ended != null && life.endedBefore(position)) {
      SsdLife.Event dropped = standing.dropped();
      return dropped != null && dropped.mark().position() == ended.position()
          ? new MissCause.SsdGone(life, dropped)
          : null;
    }
    SsdLife.Event demoted = standing.demoted();
    return demoted == null ? null : new MissCause.OnSsdOnly(life, demoted, standing.loading());
  }

  static String name(MissCause.OnSsdOnly cause) {
    return cause.loading() == null ? "on SSD only" : "still being read from SSD";
  }

  static String name(MissCause.SsdGone cause) {
    return switch (cause.how().fact()) {
      case SsdEvicted evicted ->
          switch (evicted.cause()) {
            case CAPACITY -> "evicted from SSD";
            case REQUESTED -> "evicted by request";
            case TIER_LOST -> "lost with its SSD tier";
          };
      case LoadFailed _ -> "not read back from SSD";
      default -> "gone from SSD";
    };
  }

  // ---- the story -------------------------------------------------------------------------------

  void explain(MissCause.OnSsdOnly cause, RequestStory.Miss miss, List<String> lines) {
    BlockLife life = cause.life();
    lines.add(left(cause.demoted(), miss) + copied(life, miss));
    SsdLife.Event loading = cause.loading();
    SsdHistory.Trouble trouble = history.at(miss.position(), true);
    if (loading != null) {
      lines.add("a read of it was under way since " + causes.before(loading.mark(), miss));
      SsdLife.Event end = life.ssd.endOfRead(miss.position());
      if (end != null) {
        lines.add(
            "it %s only at %s"
                .formatted(
                    end.fact() instanceof LoadFailed failed
                        ? "failed, " + Words.of(failed.reason()) + ","
                        : "was done",
                    causes.after(end.mark(), miss)));
      }
    } else if (trouble == null) {
      lines.add(
          miss.waited()
              ? "the query waited, and no read of it was begun: no memory was free for it, or as"
                  + " much as allowed was being read"
              : "the query did not wait: only one with WAIT is answered from SSD");
    }
    if (trouble != null) {
      lines.add(ill(trouble, miss) + ": nothing was read from it");
    }
    lines.add(causes.begun(life));
  }

  void explain(MissCause.SsdGone cause, RequestStory.Miss miss, List<String> lines) {
    BlockLife life = cause.life();
    switch (cause.how().fact()) {
      case SsdEvicted evicted -> lines.add(dropped(evicted, cause.how().mark(), miss));
      case LoadFailed failed -> {
        lines.add(
            "it could not be read back at %s: %s%s; its copy was dropped"
                .formatted(
                    causes.before(cause.how().mark(), miss),
                    Words.of(failed.reason()),
                    failed.detail().isEmpty() ? "" : ", " + failed.detail()));
        for (VerifyFailed failure : life.verifyFailures) {
          lines.add(
              "shard %d had the sum %s instead of %s: its bytes changed on the disk"
                  .formatted(
                      failure.shard(), Words.hex(failure.actual()), Words.hex(failure.expected())));
        }
      }
      default -> {}
    }
    SsdLife.Event demoted = life.ssd.before(cause.how().mark().position()).demoted();
    if (demoted != null) {
      lines.add(left(demoted, miss) + ", and it was nowhere but on SSD since");
    }
    lines.add(causes.begun(life));
  }

  /** Why a block that was evicted from memory could not be found on SSD either. */
  void noCopy(BlockLife life, Mark at, RequestStory.Miss miss, List<String> lines) {
    SsdLife.Standing standing = life.ssd.before(at.position());
    SsdLife.Event dropped = standing.dropped();
    if (standing.skipped() != null && standing.skipped().fact() instanceof SsdSkipped skipped) {
      lines.add("it had no copy on SSD: " + skipped(skipped.reason()));
      SsdHistory.Trouble trouble = history.at(at.position(), false);
      if (skipped.reason() == SsdSkip.DISK_ILL && trouble != null) {
        lines.add(ill(trouble, miss));
      }
    } else if (dropped != null && dropped.fact() instanceof SsdEvicted evicted) {
      lines.add(dropped(evicted, dropped.mark(), miss));
    }
  }

  private static String skipped(SsdSkip reason) {
    return switch (reason) {
      case QUEUE_FULL ->
          "the write queue was full until it left memory (--ssd-write-queue, or a faster disk)";
      case DISK_ILL -> "the disk took no writes, or failed this one";
      case NOT_REUSED -> "only blocks that are used again go there (--ssd-admission reuse)";
      case TIER_FULL -> "the tier was full of what was used later";
    };
  }

  private String dropped(SsdEvicted evicted, Mark at, RequestStory.Miss miss) {
    String how =
        switch (evicted.cause()) {
          case CAPACITY ->
              "its copy on SSD was evicted"
                  + forWhom(evicted.forSessionId(), evicted.forRequest(), " for room");
          case REQUESTED ->
              "its copy on SSD was evicted because an operator or engine asked for it";
          case TIER_LOST ->
              "its copy on SSD was lost when the Manager started with another tier, or none";
        };
    return how + " at " + causes.before(at, miss);
  }

  private String left(SsdLife.Event demoted, RequestStory.Miss miss) {
    TierFact fact = demoted.fact();
    String how =
        fact instanceof BlocksDemoted event
            ? event.cause() == EvictionCause.RESTART
                ? " when the Manager restarted"
                : forWhom(event.forSessionId(), event.forRequest(), "")
            : "";
    return "it left memory" + how + " at " + causes.before(demoted.mark(), miss);
  }

  private String forWhom(long sessionId, String request, String nobody) {
    return sessionId == 0
        ? nobody
        : " to make room for "
            + names.who(sessionId)
            + (request.isEmpty() ? "" : " for request " + request);
  }

  private static String copied(BlockLife life, RequestStory.Miss miss) {
    SsdLife.Event copied = life.ssd.before(miss.position()).copied();
    return copied == null
        ? ""
        : "; its copy on SSD was written at position " + Words.count(copied.mark().position());
  }

  private String ill(SsdHistory.Trouble trouble, RequestStory.Miss miss) {
    return "the tier was ill from %s: %s, %s"
        .formatted(
            causes.before(trouble.from, miss),
            Words.of(trouble.fact.trouble()),
            trouble.fact.detail());
  }
}
