package io.orbitkv.manager.replay;

import io.orbitkv.manager.cli.Failure;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Keys;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * {@code --why REQUEST}: what a request asked, what it got, and for every miss why.
 *
 * <p>Two passes, so that a long journal needs no memory: the first finds the request's facts and
 * the keys it missed, the second the lives of just those keys.
 */
public final class Why {
  private static final int MAX_MISSES_SHOWN = 24;

  private final JournalDir dir;
  private final String request;
  private final Times times;
  private final PrintWriter out;

  public Why(JournalDir dir, String request, Times times, PrintWriter out) {
    this.dir = dir;
    this.request = request;
    this.times = times;
    this.out = out;
  }

  /**
   * Tells the story.
   *
   * @throws Failure when no fact names the request, with names like it
   */
  public void tell(Progress progress) throws IOException {
    RequestStory story = new RequestStory(request);
    Scan first = new Scan(dir, progress);
    Scan.Ended ended = first.run(story);
    if (!story.found()) {
      throw unknown(story.nearNames());
    }
    Histories histories = histories(story, progress);
    Names names = first.names();
    MissCauses causes = causes(histories, names);
    header(story, names);
    verdicts(story, histories, causes);
    facts(story, names);
    int shown = 0;
    for (RequestStory.Miss miss : story.misses) {
      if (shown++ == MAX_MISSES_SHOWN) {
        out.printf(
            "%n%s more answers with misses are not explained here; --events --request %s lists"
                + " them%n",
            Words.count(story.misses.size() - MAX_MISSES_SHOWN), request);
        break;
      }
      explain(miss, names, causes);
    }
    if (histories.tooMany) {
      out.println();
      out.println("note: the keys were published so often that their later lives are left out");
    }
    Notes.damage(ended.damages(), ended.tail(), out);
    out.flush();
  }

  private Failure unknown(List<String> near) {
    return new Failure(
        "no fact names request " + request,
        near.isEmpty()
            ? "Names of requests are in: orbitkv replay %s --events --limit 20"
                .formatted(dir.path())
            : "Did you mean " + String.join(", ", near) + "?");
  }

  private Histories histories(RequestStory story, Progress progress) throws IOException {
    KeyMatcher.Exact keys = new KeyMatcher.Exact();
    story.misses.forEach(miss -> keys.add(miss.answer().missingKeys()));
    Histories histories = new Histories(keys, story.failedBlocks, false);
    if (!story.misses.isEmpty() || !story.failedBlocks.isEmpty()) {
      collect(dir, histories, progress);
    }
    return histories;
  }

  /** Runs the pass that fills histories. */
  static Names collect(JournalDir dir, Histories histories, Progress progress) throws IOException {
    Scan scan = new Scan(dir, progress);
    Optional<HostState> start = dir.stateBeforeOldest();
    if (start.isPresent()) {
      Names names = new Names();
      names.seed(start.get());
      histories.seed(start.get(), names);
    }
    scan.run(histories);
    return scan.names();
  }

  private MissCauses causes(Histories histories, Names names) throws IOException {
    long oldest = dir.firstPosition();
    boolean known = dir.stateBeforeOldest().isPresent();
    return new MissCauses(
        request, histories, names, times, known ? 0 : oldest, known && oldest > 1 ? oldest - 1 : 0);
  }

  private void header(RequestStory story, Names names) {
    out.printf(
        "Request %s: %s%n",
        request,
        story.sessions.isEmpty()
            ? "no session"
            : story.sessions.stream()
                .map(
                    session ->
                        names.who(session)
                            + " in namespace "
                            + names.namespaceName(names.namespaceOf(session)))
                .collect(Collectors.joining("; ")));
  }

  // ---- in short --------------------------------------------------------------------------------

  private void verdicts(RequestStory story, Histories histories, MissCauses causes) {
    if (story.queries > 0) {
      long asked = story.askedBlocks;
      long hit = story.hitBlocks;
      out.printf(
          "  asked for %s in %s, got %s (%s)%s%n",
          Words.count(asked, "block"),
          story.queries == 1 ? "one query" : Words.count(story.queries) + " queries",
          Words.count(hit),
          Words.percent(hit, asked),
          asked == hit ? "" : ", missed " + Words.count(asked - hit) + byCause(story, causes));
    }
    story.reads.lines().forEach(line -> out.println("  " + line));
    for (RequestStory.Told told : story.facts) {
      String trouble = trouble(told, story, histories);
      if (!trouble.isEmpty()) {
        out.println("  " + trouble);
      }
    }
  }

  private static String byCause(RequestStory story, MissCauses causes) {
    Map<String, Long> counts = new TreeMap<>();
    for (RequestStory.Miss miss : story.misses) {
      Keys keys = miss.answer().missingKeys();
      for (int i = 0; i < keys.size(); i++) {
        counts.merge(MissCauses.name(causes.of(miss, keys.hex(i))), 1L, Long::sum);
      }
      if (unrecorded(miss.answer()) > 0) {
        counts.merge("not recorded", unrecorded(miss.answer()), Long::sum);
      }
    }
    long explained = counts.values().stream().mapToLong(Long::longValue).sum();
    if (explained < story.askedBlocks - story.hitBlocks) {
      counts.put(
          "beyond the first " + Words.count(story.misses.size()) + " answers",
          story.askedBlocks - story.hitBlocks - explained);
    }
    return counts.entrySet().stream()
        .map(entry -> Words.count(entry.getValue()) + " " + entry.getKey())
        .collect(Collectors.joining(", ", ": ", ""));
  }

  /** What went wrong beside misses; empty when the fact is nothing of that kind. */
  private String trouble(RequestStory.Told told, RequestStory story, Histories histories) {
    Links.Link opened = told.scope().opened();
    String held =
        opened == null
            ? ""
            : ", " + Words.duration(told.fact().atMicros() - opened.atMicros()) + " after it began";
    String at = " at position " + Words.count(told.fact().position());
    return switch (told.fact().event()) {
      case HostEvent.RequestRefused event ->
          "its %s was refused%s: %s: %s"
              .formatted(
                  Words.of(event.operation()), at, Words.of(event.category()), event.reason());
      case HostEvent.LeaseReleased event when event.reason() != LeaseEnd.RELEASED ->
          "lease %d ended by itself%s%s: %s%s"
              .formatted(
                  event.leaseId(),
                  at,
                  held,
                  switch (event.reason()) {
                    case EXPIRED -> "it expired";
                    case SESSION_CLOSED -> "its session closed";
                    case RESTART -> "the Manager restarted";
                    case RELEASED -> "released";
                  },
                  story.restoredLeases.contains(event.leaseId())
                      ? ""
                      : ", and no restore was begun under it");
      case HostEvent.RestoreFinished event when event.outcome() != RestoreOutcome.DONE ->
          "restore %d did not succeed%s: %s"
              .formatted(event.restoreId(), at, Words.of(event.outcome()));
      case HostEvent.VerifyFailed event ->
          "block %d shard %d failed verification%s%s"
              .formatted(event.blockId(), event.shard(), at, dropped(event, histories));
      case HostEvent.PublishAborted event ->
          "its publish %d was aborted%s%s: %s"
              .formatted(event.publishId(), at, held, Words.of(event.reason()));
      case HostEvent.TicketClosed event
          when event.outcome() != HostEvent.TicketEnd.READY
              && event.outcome() != HostEvent.TicketEnd.MISS ->
          "ticket %d ended without its blocks%s%s: %s"
              .formatted(event.ticketId(), at, held, Words.of(event.outcome()));
      default -> "";
    };
  }

  private static String dropped(HostEvent.VerifyFailed event, Histories histories) {
    for (BlockLife life : histories.lives) {
      if (life.blockId == event.blockId() && life.ended != null) {
        return "; the block was dropped at position " + Words.count(life.ended.position());
      }
    }
    return "";
  }

  // ---- the facts, and the misses ---------------------------------------------------------------

  private void facts(RequestStory story, Names names) {
    FactText text = new FactText(times, names);
    out.println();
    story.facts.forEach(told -> out.println(text.line(told.fact(), told.scope())));
    if (story.factCount > story.facts.size()) {
      out.printf(
          "           and %s more facts; --events --request %s lists all%n",
          Words.count(story.factCount - story.facts.size()), request);
    }
  }

  private static long unrecorded(GroupAnswer answer) {
    long missing = (long) answer.askedBlocks() - answer.hitBlocks();
    return Math.max(answer.missingKeysOmitted(), missing - answer.missingKeys().size());
  }

  private void explain(RequestStory.Miss miss, Names names, MissCauses causes) {
    GroupAnswer answer = miss.answer();
    out.println();
    out.printf(
        "Missed at position %s in %s: %s of %s%n",
        Words.count(miss.position()),
        names.group(miss.namespaceId(), answer.groupId()),
        Words.count(answer.askedBlocks() - (long) answer.hitBlocks()),
        Words.count(answer.askedBlocks(), "block"));
    Map<String, List<Integer>> sameCause = new LinkedHashMap<>();
    Keys keys = answer.missingKeys();
    List<MissCause> each = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      MissCause cause = causes.of(miss, keys.hex(i));
      each.add(cause);
      sameCause.computeIfAbsent(cause.signature(), _ -> new ArrayList<>()).add(i);
    }
    for (List<Integer> same : sameCause.values()) {
      int one = same.getFirst();
      out.printf("  %s: %s%n", keys(keys, same), MissCauses.name(each.get(one)));
      causes
          .explain(each.get(one), miss, keys.hex(one))
          .forEach(line -> out.println("      " + line));
    }
    long unrecorded = unrecorded(answer);
    if (unrecorded > 0) {
      out.printf(
          "  %s without a recorded key: beyond the first %s, or sealed but behind a missing one%n",
          Words.count(unrecorded, "block"), Words.count(keys.size()));
    }
  }

  private static String keys(Keys keys, List<Integer> which) {
    String first = Words.shortKey(keys.hex(which.getFirst()));
    if (which.size() == 1) {
      return "key " + first;
    }
    String last = Words.shortKey(keys.hex(which.getLast()));
    return "%s %s %s %s"
        .formatted(Words.count(which.size(), "key"), first, which.size() == 2 ? "and" : "to", last);
  }
}
