package io.orbitkv.manager.replay;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.journal.PartInfo;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Totals;
import io.orbitkv.state.Totals.Counter;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * What the journal holds and what the state is at its end, or at a moment. The figures are the
 * fold's own totals, the same that the daemon's metrics show.
 */
public final class Summary {
  private static final int MAX_EPOCHS = 12;

  /** One daemon run. */
  private static final class Epoch {
    final HostEvent.EpochStarted started;
    final long position;
    final long atMicros;
    long facts;
    HostEvent.@Nullable EpochEnded ended;

    Epoch(HostEvent.EpochStarted started, Fact fact) {
      this.started = started;
      this.position = fact.position();
      this.atMicros = fact.atMicros();
    }
  }

  private final JournalDir dir;
  private final @Nullable Moment at;
  private final Replay replay;
  private final Counts counts;

  private Summary(JournalDir dir, @Nullable Moment at, Replay replay, Counts counts) {
    this.dir = dir;
    this.at = at;
    this.replay = replay;
    this.counts = counts;
  }

  /** Counts facts and epochs on the way through a fold. */
  private static final class Counts extends Watcher {
    final Map<Class<?>, long[]> byType = new HashMap<>();
    final Deque<Epoch> epochs = new ArrayDeque<>();
    final TierFigures tier = new TierFigures();
    long firstPosition;
    long firstAtMicros;

    Counts(Progress progress) {
      super(progress);
    }

    @Override
    void see(Fact fact, HostState before) {
      tier.see(fact.event());
      if (firstPosition == 0) {
        firstPosition = fact.position();
        firstAtMicros = fact.atMicros();
      }
      byType.computeIfAbsent(fact.event().getClass(), _ -> new long[1])[0]++;
      if (fact.event() instanceof HostEvent.EpochStarted started) {
        if (epochs.size() == MAX_EPOCHS) {
          epochs.removeFirst();
        }
        epochs.addLast(new Epoch(started, fact));
      }
      Epoch current = epochs.peekLast();
      if (current != null) {
        current.facts++;
        if (fact.event() instanceof HostEvent.EpochEnded ended) {
          current.ended = ended;
        }
      }
    }
  }

  /** Folds the journal to its end. */
  public static Summary whole(JournalDir dir, Progress progress) throws IOException {
    Counts counts = new Counts(progress);
    ReplayOptions options = ReplayOptions.QUICK.from(ReplayOptions.Start.OLDEST_FACT);
    return new Summary(dir, null, dir.fold(options, counts), counts);
  }

  /** The state at a moment, by the shortest way there. */
  public static Summary at(JournalDir dir, Moment moment, Progress progress) throws IOException {
    Counts counts = new Counts(progress);
    Replay replay = dir.fold(JournalDir.until(ReplayOptions.QUICK, moment), counts);
    if (replay.state().position() == 0) {
      PartInfo first = dir.parts().getFirst();
      throw new Failure(
          "there is no state to show at that moment",
          "The oldest fact is at position %d, %s: ask for it or for a later one."
              .formatted(first.firstPosition(), Times.iso(first.firstAtMicros())));
    }
    return new Summary(dir, moment, replay, counts);
  }

  /** Whether everything up to the moment could be folded. */
  public boolean complete() {
    return replay.complete();
  }

  // ---- text ------------------------------------------------------------------------------------

  /** Writes it for a person. */
  public void print(PrintWriter out, Times times) throws IOException {
    HostState state = replay.state();
    if (at == null) {
      printJournal(out, times);
    } else {
      out.printf(
          "State at position %s, %s%s%n",
          Words.count(state.position()),
          times.text(state.atMicros()),
          replay.checkpointPosition() == 0
              ? ""
              : " (checkpoint at %s and %s)"
                  .formatted(
                      Words.count(replay.checkpointPosition()),
                      Words.count(replay.facts(), "fact")));
      if (at instanceof Moment.Position(long asked) && asked > state.position()) {
        out.printf("  position %s lies behind the end%n", Words.count(asked));
      }
    }
    out.println();
    printState(out, state);
    out.println();
    printTotals(out, state.totals());
    if (TierFigures.any(state)) {
      out.println("SSD tier");
      counts
          .tier
          .of(state)
          .forEach(figure -> out.printf("  %s: %s%n", figure.name(), figure.text()));
    }
    printOpen(out, state);
    List<String> notes = Notes.of(replay);
    if (!notes.isEmpty()) {
      out.println();
      out.println("Damage and gaps");
      notes.forEach(note -> out.println("  " + note));
    }
    out.flush();
  }

  private void printJournal(PrintWriter out, Times times) throws IOException {
    HostState state = replay.state();
    List<PartInfo> parts = dir.parts();
    out.printf("Journal %s%n", dir.path());
    out.printf(
        "  %s in %s, files of %s with what is reserved ahead%n",
        Words.count(replay.facts(), "fact"),
        Words.count(parts.size(), "part"),
        Words.bytes(parts.stream().mapToLong(PartInfo::diskBytes).sum()));
    if (counts.firstPosition != 0) {
      out.printf(
          "  %s .. %s%n",
          position(counts.firstPosition, counts.firstAtMicros, times),
          position(state.position(), state.atMicros(), times));
      out.printf("  span %s%n", Words.duration(state.atMicros() - counts.firstAtMicros));
    }
    if (replay.checkpointPosition() != 0 && replay.passedFrom() == 0) {
      out.printf(
          "  retention deleted the facts up to %s; the checkpoint there holds what they came to,"
              + " and what happened before it is not known one by one%n",
          Words.count(replay.checkpointPosition()));
    }
    out.println();
    long earlier = state.totals().get(Counter.EPOCHS) - counts.epochs.size();
    out.printf("Epochs%s%n", earlier > 0 ? " (" + Words.count(earlier) + " earlier)" : "");
    for (Epoch epoch : counts.epochs) {
      out.printf(
          "  %d  %s, version %s, pool %s, %s: %s%n",
          epoch.started.epoch(),
          position(epoch.position, epoch.atMicros, times),
          epoch.started.version(),
          Words.bytes(epoch.started.poolBytes()),
          Words.count(epoch.facts, "fact"),
          ending(epoch));
    }
    out.println();
    out.println("Facts");
    for (Map.Entry<Class<?>, long[]> entry : sorted()) {
      out.printf("  %11s  %s%n", Words.count(entry.getValue()[0]), entry.getKey().getSimpleName());
    }
  }

  private List<Map.Entry<Class<?>, long[]>> sorted() {
    List<Map.Entry<Class<?>, long[]>> sorted = new ArrayList<>(counts.byType.entrySet());
    sorted.sort(
        Comparator.comparingLong((Map.Entry<Class<?>, long[]> entry) -> -entry.getValue()[0])
            .thenComparing(entry -> entry.getKey().getSimpleName()));
    return sorted;
  }

  private static String position(long position, long atMicros, Times times) {
    return times.text(atMicros) + " at " + Words.count(position);
  }

  private String ending(Epoch epoch) {
    if (epoch.ended != null) {
      return "ended, " + epoch.ended.reason();
    }
    return epoch == counts.epochs.peekLast() ? "runs on, or crashed" : "crashed";
  }

  private static void printState(PrintWriter out, HostState state) {
    out.println("State");
    out.printf("  epoch %d, %s%n", state.epoch(), state.running() ? "not ended" : "ended in order");
    out.printf(
        "  blocks: %s sealed, %s reserved, %s evicted and still pinned%s%n",
        Words.count(state.sealedBlocks()),
        Words.count(state.reservedBlocks()),
        Words.count(state.evictedBlocks()),
        TierFigures.any(state) ? ", " + Words.count(state.ssdOnlyBlocks()) + " on SSD only" : "");
    out.printf(
        "  pool: %s of %s used (%s), %s%n",
        Words.bytes(state.extentBytes()),
        Words.bytes(state.poolBytes()),
        Words.percent(state.extentBytes(), state.poolBytes()),
        Words.count(state.extents(), "extent"));
    if (TierFigures.any(state)) {
      out.printf(
          "  ssd: %s of %s used, %s%n",
          Words.bytes(state.ssdBytes()),
          Words.bytes(TierFigures.capacityBytes(state)),
          Words.count(state.ssdExtents(), "extent"));
    }
    state
        .namespaces()
        .forEach(
            namespace ->
                out.printf(
                    "  namespace %s: %s, %s, %s, format %s%n",
                    namespace.name(),
                    Words.count(namespace.instances(), "instance"),
                    Words.count(namespace.blocks(), "block"),
                    Words.count(namespace.shardCount(), "shard"),
                    namespace.format().fingerprint()));
    out.printf("  digest %s%n", Words.hex(state.digest()));
  }

  private static void printTotals(PrintWriter out, Totals totals) {
    out.println("Totals since the journal began");
    out.printf(
        "  queries: %s asked for %s, hit %s (%s), missed %s%n",
        Words.count(totals.get(Counter.QUERIES)),
        Words.count(totals.get(Counter.ASKED_BLOCKS), "block"),
        Words.count(totals.get(Counter.HIT_BLOCKS)),
        Words.percent(totals.get(Counter.HIT_BLOCKS), totals.get(Counter.ASKED_BLOCKS)),
        Words.count(totals.missedBlocks()));
    out.printf(
        "  publishes: %s done of %s begun, %s, %s%s%n",
        Words.count(totals.get(Counter.PUBLISHES_DONE)),
        Words.count(totals.get(Counter.PUBLISHES_BEGUN)),
        Words.count(totals.get(Counter.SEALED_BLOCKS), "block") + " sealed",
        Words.bytes(totals.get(Counter.PUBLISHED_BYTES)),
        each(HostEvent.AbortReason.values(), totals::publishesAborted, "; aborted: "));
    out.printf(
        "  leases: %s of %s%s%n",
        Words.count(totals.get(Counter.LEASES_GRANTED)),
        Words.count(totals.get(Counter.LEASED_BLOCKS), "block"),
        each(HostEvent.LeaseEnd.values(), totals::leasesEnded, "; ended: "));
    out.printf(
        "  restores: %s, %s of %s%s%n",
        Words.count(totals.get(Counter.RESTORES_STARTED)),
        Words.bytes(totals.get(Counter.RESTORED_BYTES)),
        Words.count(totals.get(Counter.RESTORED_BLOCKS), "block"),
        each(HostEvent.RestoreOutcome.values(), totals::restoresFinished, "; finished: "));
    out.printf(
        "  tickets: %s%s%n",
        Words.count(totals.get(Counter.TICKETS_OPENED)),
        each(HostEvent.TicketEnd.values(), totals::ticketsClosed, "; closed: "));
    out.printf(
        "  evicted blocks: %s%n",
        orNone(each(HostEvent.EvictionCause.values(), totals::evictedBlocks, "")));
    out.printf(
        "  refusals: %s; registrations refused: %s; verify failures: %s%n",
        orNone(each(HostEvent.RefusalCategory.values(), totals::refusals, "")),
        Words.count(totals.get(Counter.REGISTRATIONS_REFUSED)),
        Words.count(totals.get(Counter.VERIFY_FAILURES)));
  }

  private static <E extends Enum<E>> String each(
      E[] constants, ToLongFunction<E> count, String before) {
    List<String> parts = new ArrayList<>();
    for (E constant : constants) {
      long value = count.applyAsLong(constant);
      if (value != 0) {
        parts.add(Words.count(value) + " " + Words.of(constant));
      }
    }
    return parts.isEmpty() ? "" : before + String.join(", ", parts);
  }

  private static String orNone(String text) {
    return text.isEmpty() ? "none" : text;
  }

  private static void printOpen(PrintWriter out, HostState state) {
    out.println();
    out.println("Open (--leaks lists each)");
    out.printf(
        "  %s, %s, %s, %s, %s, %s%n",
        Words.count(state.instances().size(), "instance"),
        Words.count(state.sessions().size(), "session"),
        Words.count(state.openLeases(), "lease"),
        Words.count(state.openTickets(), "ticket"),
        Words.count(state.openPublishes(), "publish"),
        Words.count(state.openRestores(), "restore"));
  }

  // ---- JSON ------------------------------------------------------------------------------------

  /** The same as one JSON object. */
  public ObjectNode json() throws IOException {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    HostState state = replay.state();
    root.put("journal", dir.path().toString());
    root.put("facts", replay.facts());
    root.put("firstPosition", counts.firstPosition);
    root.put("checkpointPosition", replay.checkpointPosition());
    root.put("complete", complete());
    if (at == null) {
      ObjectNode types = root.putObject("factsByType");
      sorted().forEach(entry -> types.put(entry.getKey().getSimpleName(), entry.getValue()[0]));
      ArrayNode epochs = root.putArray("epochs");
      for (Epoch epoch : counts.epochs) {
        ObjectNode node = epochs.addObject();
        node.put("epoch", epoch.started.epoch());
        node.put("position", epoch.position);
        node.put("at", Times.iso(epoch.atMicros));
        node.put("facts", epoch.facts);
        node.put("ended", epoch.ended == null ? null : epoch.ended.reason());
      }
    }
    root.set("state", StateJson.of(state));
    if (TierFigures.any(state)) {
      root.set("ssd", counts.tier.json(state));
    }
    ArrayNode notes = root.putArray("notes");
    Notes.of(replay).forEach(notes::add);
    return root;
  }
}
