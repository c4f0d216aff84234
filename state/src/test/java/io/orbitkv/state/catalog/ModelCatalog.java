package io.orbitkv.state.catalog;

import io.orbitkv.state.catalog.CatalogCommand.CaughtUp;
import io.orbitkv.state.catalog.CatalogCommand.CommitHandoff;
import io.orbitkv.state.catalog.CatalogCommand.FenceOwner;
import io.orbitkv.state.catalog.CatalogCommand.Found;
import io.orbitkv.state.catalog.CatalogCommand.OpenStream;
import io.orbitkv.state.catalog.CatalogCommand.PrepareHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RetireHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RollBackHandoff;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * A catalog shard that remembers nothing but what it did, and reads everything out of that again
 * each time: slow and literal.
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
      switch (each) {
        case Found(var members) -> all.add(members);
        case CommitHandoff(var _, var target) -> all.add(target);
        case OpenStream _, FenceOwner _, PrepareHandoff _, CaughtUp _ -> {}
        case RetireHandoff _, RollBackHandoff _ -> {}
      }
    }
    return all;
  }

  /** The commands of the handoff that is open, from its preparation on; empty if none is. */
  private List<CatalogCommand> handoff() {
    List<CatalogCommand> open = new ArrayList<>();
    for (CatalogCommand each : done) {
      switch (each) {
        case PrepareHandoff _, CaughtUp _, CommitHandoff _ -> open.add(each);
        case RetireHandoff _, RollBackHandoff _ -> open.clear();
        case Found _, OpenStream _, FenceOwner _ -> {}
      }
    }
    return open;
  }

  private String outcome(CatalogCommand command) {
    return switch (command) {
      case Found(var members) ->
          placements().isEmpty()
              ? good(members) ? CHANGES : "BAD_MEMBERS"
              : placements().equals(List.of(members)) ? NOTHING : "FOUNDED_OTHERWISE";
      case OpenStream(var owner, var runtime, long epoch) -> open(owner, runtime, epoch);
      case FenceOwner(var owner, long epoch) -> fence(owner, epoch);
      case PrepareHandoff(long generation, var target) ->
          !generationTrouble(generation).isEmpty()
              ? generationTrouble(generation)
              : !good(target)
                  ? "BAD_MEMBERS"
                  : !handoff().isEmpty()
                      ? openTo(target) ? NOTHING : "HANDOFF_OPEN"
                      : placements().getLast().equals(target) ? "NOTHING_TO_MOVE" : CHANGES;
      case CaughtUp(long generation, var target) ->
          !generationTrouble(generation).isEmpty()
              ? generationTrouble(generation)
              : !openTo(target) ? "NO_SUCH_HANDOFF" : handoff().size() == 2 ? NOTHING : CHANGES;
      case CommitHandoff(long generation, var target) ->
          wasCommitted(generation, target)
              ? NOTHING
              : !generationTrouble(generation).isEmpty()
                  ? generationTrouble(generation)
                  : !openTo(target)
                      ? "NO_SUCH_HANDOFF"
                      : handoff().size() == 2 ? CHANGES : "NOT_CAUGHT_UP";
      case RetireHandoff(long generation) ->
          !generationTrouble(generation).isEmpty()
              ? generationTrouble(generation)
              : handoff().isEmpty() ? NOTHING : handoff().size() == 3 ? CHANGES : "HANDOFF_OPEN";
      case RollBackHandoff(long generation, var target) ->
          wasCommitted(generation, target)
              ? "COMMITTED_ALREADY"
              : !generationTrouble(generation).isEmpty()
                  ? generationTrouble(generation)
                  : handoff().isEmpty() ? NOTHING : openTo(target) ? CHANGES : "NO_SUCH_HANDOFF";
    };
  }

  private boolean openTo(List<NodeId> target) {
    List<CatalogCommand> open = handoff();
    return (open.size() == 1 || open.size() == 2)
        && ((PrepareHandoff) open.getFirst()).target().equals(target);
  }

  private boolean wasCommitted(long generation, List<NodeId> target) {
    List<List<NodeId>> all = placements();
    return all.size() > 1 && generation == all.size() - 1 && all.getLast().equals(target);
  }

  /** The refusal for a generation that is not in force; empty if it is. */
  private String generationTrouble(long generation) {
    int now = placements().size();
    if (now == 0) {
      return "NOT_FOUNDED";
    }
    return generation == now
        ? ""
        : generation >= 1 && generation < now ? "OLD_GENERATION" : "UNKNOWN_GENERATION";
  }

  private String open(NodeId owner, UUID runtime, long epoch) {
    if (epoch < 1) {
      return "OLD_EPOCH";
    }
    for (CatalogCommand each : done) {
      if (each instanceof FenceOwner(var other, long fenced)
          && other.equals(owner)
          && fenced >= epoch) {
        return "OLD_EPOCH";
      }
      if (each instanceof OpenStream(var other, var _, long later)
          && other.equals(owner)
          && later > epoch) {
        return "OLD_EPOCH";
      }
    }
    for (CatalogCommand each : done) {
      if (each instanceof OpenStream(var other, var run, long same)
          && other.equals(owner)
          && same == epoch) {
        return run.equals(runtime) ? NOTHING : "EPOCH_TAKEN";
      }
    }
    return CHANGES;
  }

  private String fence(NodeId owner, long epoch) {
    if (epoch < 1) {
      return "OLD_EPOCH";
    }
    for (CatalogCommand each : done) {
      if (each instanceof FenceOwner(var other, long fenced)
          && other.equals(owner)
          && fenced >= epoch) {
        return NOTHING;
      }
      if (each instanceof OpenStream(var other, var _, long later)
          && other.equals(owner)
          && later > epoch) {
        return NOTHING;
      }
    }
    return CHANGES;
  }

  private static boolean good(List<NodeId> members) {
    return !members.isEmpty() && members.stream().distinct().count() == members.size();
  }
}
