package io.orbitkv.manager.replay;

import io.orbitkv.journal.Corruption;
import io.orbitkv.journal.FactCursor;
import io.orbitkv.journal.PartInfo;
import io.orbitkv.journal.UnreadableRecord;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostState;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One pass over the facts without folding them: for questions about facts rather than about the
 * state. It goes on behind damage, and holds only what is open.
 */
final class Scan {
  private static final int PROGRESS_EVERY = 1 << 14;
  private static final int MAX_DAMAGES = 100;

  /** Sees the facts in order. */
  @FunctionalInterface
  interface Visitor {
    /**
     * Looks at the next fact.
     *
     * @param links knows what the fact opens and, still, what it ends
     * @return false to end the pass
     */
    boolean visit(Fact fact, Links links, Names names);
  }

  /**
   * How a pass ended.
   *
   * @param facts facts seen
   * @param lastPosition position of the last one, 0 if there was none
   * @param lastAtMicros when that was
   * @param damages what is missing in between, at most {@value #MAX_DAMAGES}
   * @param tail bytes behind the last whole fact
   */
  record Ended(
      long facts,
      long lastPosition,
      long lastAtMicros,
      List<Corruption> damages,
      Optional<Corruption> tail) {}

  private final JournalDir dir;
  private final Progress progress;
  private final Names names = new Names();
  private final Links links = new Links();
  private final List<Corruption> damages = new ArrayList<>();

  Scan(JournalDir dir, Progress progress) {
    this.dir = dir;
    this.progress = progress;
  }

  Names names() {
    return names;
  }

  /** Goes from the oldest fact to the end or until the visitor has seen enough. */
  Ended run(Visitor visitor) throws IOException {
    Optional<HostState> start = dir.stateBeforeOldest();
    start.ifPresent(
        state -> {
          names.seed(state);
          links.seed(state);
        });
    List<PartInfo> parts = dir.parts();
    long totalBytes = parts.stream().mapToLong(PartInfo::diskBytes).sum();
    long facts = 0;
    Fact last = null;
    try (FactCursor cursor = dir.reader().from(Math.max(1, dir.firstPosition()))) {
      for (; ; ) {
        switch (cursor.next()) {
          case END -> {
            return ended(facts, last, cursor.tornTail());
          }
          case DAMAGED -> {
            if (damages.size() < MAX_DAMAGES) {
              damages.add(cursor.corruption());
            }
          }
          case FACT -> {
            last = cursor.fact();
            facts++;
            if (!offer(last, visitor)) {
              return ended(facts, last, Optional.empty());
            }
            if (facts % PROGRESS_EVERY == 0) {
              progress.at(facts, doneBytes(parts, cursor), totalBytes);
            }
          }
        }
      }
    } catch (UnreadableRecord e) {
      throw JournalDir.newer(e);
    }
  }

  /** Shows one fact to a visitor; false when the visitor has seen enough. */
  boolean offer(Fact fact, Visitor visitor) {
    names.observe(fact);
    links.open(fact);
    boolean goOn = visitor.visit(fact, links, names);
    links.close(fact);
    return goOn;
  }

  private Ended ended(long facts, @Nullable Fact last, Optional<Corruption> tail) {
    progress.hide();
    return new Ended(
        facts,
        last == null ? 0 : last.position(),
        last == null ? 0 : last.atMicros(),
        List.copyOf(damages),
        tail);
  }

  private static long doneBytes(List<PartInfo> parts, FactCursor cursor) {
    long done = cursor.fileOffset();
    for (PartInfo part : parts) {
      done += part.number() < cursor.part() ? part.diskBytes() : 0;
    }
    return done;
  }
}
