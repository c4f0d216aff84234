package io.orbitkv.catalog.placement;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.peer.CatalogAdmin;
import io.orbitkv.catalog.peer.HandoffOrder;
import io.orbitkv.catalog.peer.HandoffReport;
import io.orbitkv.catalog.placement.CatalogLog.LogAnswer;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.CatalogAnswer;
import io.orbitkv.state.catalog.CatalogCommand;
import io.orbitkv.state.catalog.CatalogRefusal;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.Handoff;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * Orders of operators, as entries of the catalog's log. Whoever leads a catalog shard carries them
 * out ({@link io.orbitkv.catalog.handoff.HandoffDriver}); here they are only taken.
 */
public final class CatalogOrders implements CatalogAdmin {
  private final CatalogLog log;
  private final Supplier<Set<NodeId>> live;

  /**
   * Takes orders for a log.
   *
   * @param live the hosts that are members of the cluster now
   */
  public CatalogOrders(CatalogLog log, Supplier<Set<NodeId>> live) {
    this.log = log;
    this.live = live;
  }

  @Override
  public CompletionStage<Placements> placements(Set<Integer> catalogShards) {
    Set<Integer> wanted = new TreeSet<>(catalogShards);
    if (wanted.isEmpty()) {
      for (int shard = 0; shard < CatalogShards.COUNT; shard++) {
        wanted.add(shard);
      }
    }
    List<CompletableFuture<LogAnswer<CatalogView>>> reads = wanted.stream().map(log::read).toList();
    return CompletableFuture.allOf(reads.toArray(CompletableFuture[]::new))
        .thenApply(_ -> collect(reads));
  }

  private static Placements collect(List<CompletableFuture<LogAnswer<CatalogView>>> reads) {
    List<Placement> known = new ArrayList<>();
    for (CompletableFuture<LogAnswer<CatalogView>> read : reads) {
      switch (read.join()) {
        case LogAnswer.Given<CatalogView>(CatalogView view) -> {
          if (view.placement() == null) {
            return new Placements.Refused(notFounded());
          }
          known.add(view.placement());
        }
        case LogAnswer.NotGiven<CatalogView>(Refusal why) -> {
          return new Placements.Refused(why);
        }
      }
    }
    return new Placements.Known(known);
  }

  @Override
  public CompletionStage<HandoffReport> handoff(HandoffOrder order) {
    return log.read(order.catalogShard())
        .thenCompose(
            answer ->
                switch (answer) {
                  case LogAnswer.NotGiven<CatalogView>(Refusal why) ->
                      done(new HandoffReport.Refused(why));
                  case LogAnswer.Given<CatalogView>(CatalogView view) -> take(order, view);
                });
  }

  private CompletableFuture<HandoffReport> take(HandoffOrder order, CatalogView view) {
    int shard = order.catalogShard();
    return switch (order) {
      case HandoffOrder.Show _ -> done(report(view));
      case HandoffOrder.Start(int _, long generation, List<NodeId> members) -> {
        Set<NodeId> unknown = new TreeSet<>(members);
        unknown.removeAll(live.get());
        yield unknown.isEmpty()
            ? propose(
                shard, new CatalogCommand.PrepareHandoff(generation, view.lastAttempt(), members))
            : done(
                new HandoffReport.Refused(
                    new Refusal(
                        RefusalCategory.USER,
                        "no live host is called " + unknown,
                        "name hosts that orbitkv members lists")));
      }
      case HandoffOrder.Resume(int _, long attempt) ->
          view.handoff() != null && view.handoff().attempt() == attempt
              ? done(report(view))
              : done(new HandoffReport.Refused(refusal(CatalogRefusal.OLD_ATTEMPT)));
      case HandoffOrder.RollBack(int _, long attempt) ->
          propose(shard, new CatalogCommand.RollBackHandoff(attempt));
    };
  }

  private CompletableFuture<HandoffReport> propose(int shard, CatalogCommand command) {
    return log.propose(shard, List.of(command))
        .thenCompose(
            answer ->
                switch (answer) {
                  case LogAnswer.NotGiven<List<CatalogAnswer>>(Refusal why) ->
                      done(new HandoffReport.Refused(why));
                  case LogAnswer.Given<List<CatalogAnswer>>(List<CatalogAnswer> answers) ->
                      switch (answers.getFirst()) {
                        case CatalogAnswer.Refused(CatalogRefusal reason, var _) ->
                            done(new HandoffReport.Refused(refusal(reason)));
                        case CatalogAnswer.Accepted _ -> show(shard);
                      };
                });
  }

  private CompletableFuture<HandoffReport> show(int shard) {
    return log.read(shard)
        .thenApply(
            answer ->
                switch (answer) {
                  case LogAnswer.NotGiven<CatalogView>(Refusal why) ->
                      new HandoffReport.Refused(why);
                  case LogAnswer.Given<CatalogView>(CatalogView view) -> report(view);
                });
  }

  private static HandoffReport report(CatalogView view) {
    Placement placement = view.placement();
    if (placement == null) {
      return new HandoffReport.Refused(notFounded());
    }
    Handoff handoff = view.handoff();
    if (handoff == null) {
      return new HandoffReport.Status(placement, Optional.empty(), view.lastAttempt(), "", "");
    }
    boolean committed = handoff.step() == Handoff.Step.COMMITTED;
    return new HandoffReport.Status(
        placement,
        committed
            ? Optional.empty()
            : Optional.of(
                new Placement(view.catalogShard(), placement.generation() + 1, handoff.target())),
        handoff.attempt(),
        handoff.step().name(),
        "%s to %s".formatted(handoff.former(), handoff.target()));
  }

  private static CompletableFuture<HandoffReport> done(HandoffReport report) {
    return CompletableFuture.completedFuture(report);
  }

  private static Refusal refusal(CatalogRefusal reason) {
    return new Refusal(
        switch (reason.category()) {
          case USER -> RefusalCategory.USER;
          case STALE -> RefusalCategory.STALE;
          case UNAVAILABLE -> RefusalCategory.UNAVAILABLE;
        },
        reason.name(),
        reason.remedy());
  }

  private static Refusal notFounded() {
    return new Refusal(
        RefusalCategory.UNAVAILABLE,
        "the catalog shard is not founded yet",
        "start as many hosts as --replication-factor says");
  }
}
