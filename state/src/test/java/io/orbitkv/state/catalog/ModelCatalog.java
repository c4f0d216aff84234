package io.orbitkv.state.catalog;

import io.orbitkv.state.catalog.CatalogCommand.CaughtUp;
import io.orbitkv.state.catalog.CatalogCommand.CommitHandoff;
import io.orbitkv.state.catalog.CatalogCommand.FenceOwner;
import io.orbitkv.state.catalog.CatalogCommand.ForgetOwner;
import io.orbitkv.state.catalog.CatalogCommand.Found;
import io.orbitkv.state.catalog.CatalogCommand.OpenStream;
import io.orbitkv.state.catalog.CatalogCommand.PrepareHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RetireHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RollBackHandoff;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;

/**
 * A catalog shard that remembers nothing but what it did, and reads everything out of that again
 * each time: slow and literal. An attempt is a preparation and all that was done under its number.
 */
final class ModelCatalog {
  private static final String CHANGES = "changes";
  private static final String NOTHING = "nothing left to do";

  private final List<CatalogCommand> done = new ArrayList<>();

  /** What should come of a command: a change, nothing left to do, or the name of a refusal. */
  String take(CatalogCommand command) {
    String outcome = outcome(command);
    if (outcome.equals(CHANGES)) {
      done.add(command);
    }
    return outcome;
  }

  int changes() {
    return done.size();
  }

  /** Every placement that there was, the one in force last. */
  List<List<NodeId>> placements() {
    List<List<NodeId>> all = new ArrayList<>();
    for (CatalogCommand each : done) {
      if (each instanceof Found(var members)) {
        all.add(members);
      } else if (each instanceof CommitHandoff(long attempt)) {
        all.add(preparations().get((int) attempt - 1).target());
      }
    }
    return all;
  }

  /** All preparations: the first is that of attempt 1. */
  List<PrepareHandoff> preparations() {
    List<PrepareHandoff> all = new ArrayList<>();
    for (CatalogCommand each : done) {
      if (each instanceof PrepareHandoff prepared) {
        all.add(prepared);
      }
    }
    return all;
  }

  /** The last attempt, if it is neither over nor rolled back; 0 if it is. */
  long open() {
    long attempt = preparations().size();
    boolean over =
        done.contains(new RetireHandoff(attempt)) || done.contains(new RollBackHandoff(attempt));
    return over ? 0 : attempt;
  }

  private String outcome(CatalogCommand command) {
    return switch (command) {
      case Found(var members) -> found(members);
      case OpenStream(var owner, var runtime, long epoch) -> open(owner, runtime, epoch);
      case FenceOwner(var owner, long epoch) -> fence(owner, epoch);
      case ForgetOwner(var owner, long epoch) -> forget(owner, epoch);
      case PrepareHandoff(long generation, long last, var target) ->
          prepare(generation, last, target);
      case CaughtUp(long attempt) ->
          done.contains(command) ? ifNotRolledBack(attempt) : ofOpen(attempt, CHANGES);
      case CommitHandoff(long attempt) ->
          done.contains(command)
              ? isNewestCommit(attempt) ? NOTHING : "OLD_ATTEMPT"
              : ofOpen(attempt, done.contains(new CaughtUp(attempt)) ? CHANGES : "NOT_CAUGHT_UP");
      case RetireHandoff(long attempt) ->
          done.contains(command)
              ? isNewestCommit(attempt) ? NOTHING : "OLD_ATTEMPT"
              : ofOpen(
                  attempt, done.contains(new CommitHandoff(attempt)) ? CHANGES : "NOT_COMMITTED");
      case RollBackHandoff(long attempt) ->
          done.contains(new CommitHandoff(attempt)) && isNewestCommit(attempt)
              ? "COMMITTED_ALREADY"
              : done.contains(command) && attempt == preparations().size()
                  ? NOTHING
                  : ofOpen(attempt, CHANGES);
    };
  }

  private String found(List<NodeId> members) {
    if (placements().isEmpty()) {
      return good(members) ? CHANGES : "BAD_MEMBERS";
    }
    boolean same =
        placements().size() == 1 && good(members) && same(placements().getFirst(), members);
    return same ? NOTHING : "FOUNDED_OTHERWISE";
  }

  private String prepare(long generation, long last, List<NodeId> target) {
    int now = placements().size();
    if (now == 0) {
      return "NOT_FOUNDED";
    }
    if (generation != now) {
      return generation >= 1 && generation < now ? "OLD_GENERATION" : "UNKNOWN_GENERATION";
    }
    if (!good(target)) {
      return "BAD_MEMBERS";
    }
    int attempts = preparations().size();
    if (open() != 0) {
      boolean same =
          last + 1 == attempts
              && !done.contains(new CommitHandoff(attempts))
              && same(preparations().getLast().target(), target);
      return same ? NOTHING : "HANDOFF_OPEN";
    }
    if (last != attempts) {
      return last >= 0 && last < attempts ? "OLD_ATTEMPT" : "UNKNOWN_ATTEMPT";
    }
    return same(placements().getLast(), target) ? "NOTHING_TO_MOVE" : CHANGES;
  }

  /** What comes of a step of an attempt, if that is the open one. */
  private String ofOpen(long attempt, String then) {
    if (placements().isEmpty()) {
      return "NOT_FOUNDED";
    }
    if (attempt != 0 && attempt == open()) {
      return then;
    }
    return attempt >= 1 && attempt <= preparations().size() ? "OLD_ATTEMPT" : "UNKNOWN_ATTEMPT";
  }

  private String ifNotRolledBack(long attempt) {
    return attempt == open() || isNewestCommit(attempt) ? NOTHING : "OLD_ATTEMPT";
  }

  private boolean isNewestCommit(long attempt) {
    long newest = 0;
    for (CatalogCommand each : done) {
      if (each instanceof CommitHandoff(long committed)) {
        newest = committed;
      }
    }
    return newest != 0 && newest == attempt;
  }

  /** What was done about an owner since it was last forgotten. */
  private List<CatalogCommand> of(NodeId owner) {
    List<CatalogCommand> known = new ArrayList<>();
    for (CatalogCommand each : done) {
      switch (each) {
        case OpenStream stream when stream.owner().equals(owner) -> known.add(each);
        case FenceOwner fence when fence.owner().equals(owner) -> known.add(each);
        case ForgetOwner forget when forget.owner().equals(owner) -> known.clear();
        case OpenStream _, FenceOwner _, ForgetOwner _, Found _, PrepareHandoff _ -> {}
        case CaughtUp _, CommitHandoff _, RetireHandoff _, RollBackHandoff _ -> {}
      }
    }
    return known;
  }

  private long newestEpoch(NodeId owner) {
    return of(owner).stream()
        .mapToLong(each -> each instanceof OpenStream(var _, var _, long epoch) ? epoch : 0)
        .max()
        .orElse(0);
  }

  private String open(NodeId owner, UUID runtime, long epoch) {
    long newest = newestEpoch(owner);
    if (epoch < 1 || epoch < newest || of(owner).contains(new FenceOwner(owner, epoch))) {
      return "OLD_EPOCH";
    }
    if (epoch == newest) {
      return of(owner).contains(new OpenStream(owner, runtime, epoch)) ? NOTHING : "EPOCH_TAKEN";
    }
    return CHANGES;
  }

  private String fence(NodeId owner, long epoch) {
    long newest = newestEpoch(owner);
    if (epoch < 1 || epoch > newest) {
      return "UNKNOWN_RUN";
    }
    boolean fenced = of(owner).contains(new FenceOwner(owner, epoch));
    return epoch < newest || fenced ? NOTHING : CHANGES;
  }

  private String forget(NodeId owner, long epoch) {
    long newest = newestEpoch(owner);
    if (newest == 0) {
      return NOTHING;
    }
    if (epoch != newest) {
      return epoch < newest ? "OLD_EPOCH" : "UNKNOWN_RUN";
    }
    return of(owner).contains(new FenceOwner(owner, epoch)) ? CHANGES : "NOT_FENCED";
  }

  private static boolean same(List<NodeId> some, List<NodeId> others) {
    return new HashSet<>(some).equals(new HashSet<>(others));
  }

  private static boolean good(List<NodeId> members) {
    return !members.isEmpty() && members.stream().distinct().count() == members.size();
  }
}
