package io.orbitkv.catalog.handoff;

import io.orbitkv.catalog.placement.CatalogLog;
import io.orbitkv.catalog.placement.CatalogLog.LogAnswer;
import io.orbitkv.catalog.placement.CatalogView;
import io.orbitkv.state.catalog.CatalogAnswer;
import io.orbitkv.state.catalog.CatalogCommand;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.Handoff;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries handoffs out, for the catalog shards that this host leads. It keeps nothing that matters:
 * each step is read from the agreed state, done, and said in the log, and all of them may be done
 * twice. So whoever leads next goes on where this one died.
 *
 * <pre>
 *   PREPARED   the joining members get the log, then wait until each has a whole table, and
 *              most members to be have one -> CaughtUp
 *   CAUGHT_UP  that still holds -> Commit: the target is in force
 *   COMMITTED  the target alone replicates the log -> Retire
 *   no handoff the placement's members alone replicate the log, whatever was given up before
 * </pre>
 *
 * <p>Before the commit, an attempt that stands still is rolled back after {@link
 * Limits#giveUpAfter}, so that a host which dies while it joins keeps nobody from handing off to
 * another. After the commit there is no way back, and it is tried for ever.
 */
public final class HandoffDriver {
  private static final Logger LOG = LoggerFactory.getLogger(HandoffDriver.class);

  private final CatalogLog log;
  private final JoinedTables tables;
  private final Limits limits;
  private final LongSupplier clock;
  private final Map<Integer, CompletableFuture<Boolean>> underWay = new HashMap<>();
  private final Map<Integer, Seen> seen = new HashMap<>();

  /** Whether members that join have what they will be asked for. */
  @FunctionalInterface
  public interface JoinedTables {
    /**
     * Asks a host whether its table of a catalog shard is whole.
     *
     * @param generation of the placement in force
     * @return never exceptionally; false also when it does not answer
     */
    CompletableFuture<Boolean> isWhole(NodeId host, int catalogShard, long generation);
  }

  /**
   * How long and how many.
   *
   * @param giveUpAfter how long one step of an attempt may take before the commit; a new leader
   *     counts anew
   * @param atOnce handoffs before their commit that one host carries out at a time, at least 1;
   *     others wait for their turn, and their time has not begun
   */
  public record Limits(Duration giveUpAfter, int atOnce) {
    /** Two minutes, four at once. */
    public static final Limits DEFAULT = new Limits(Duration.ofMinutes(2), 4);

    /** Refuses a limit that lets nothing happen. */
    public Limits {
      if (atOnce < 1 || giveUpAfter.isNegative() || giveUpAfter.isZero()) {
        throw new IllegalArgumentException(atOnce + " handoffs at once for " + giveUpAfter);
      }
    }
  }

  /** The step that a handoff was in when this host looked first. */
  private record Seen(long attempt, Handoff.Step step, long sinceNanos) {
    boolean is(Handoff handoff) {
      return attempt == handoff.attempt() && step == handoff.step();
    }
  }

  /** A driver with {@link Limits#DEFAULT}. */
  public HandoffDriver(CatalogLog log, JoinedTables tables) {
    this(log, tables, Limits.DEFAULT, System::nanoTime);
  }

  /**
   * A driver.
   *
   * @param clock nanoseconds that never fall
   */
  public HandoffDriver(CatalogLog log, JoinedTables tables, Limits limits, LongSupplier clock) {
    this.log = log;
    this.tables = tables;
    this.limits = limits;
    this.clock = clock;
  }

  /** Does what is due and returns at once. One thread calls it, again and again. */
  public void step() {
    List<CatalogView> led = led();
    for (CatalogView view : led) {
      Handoff handoff = view.handoff();
      int shard = view.catalogShard();
      CompletableFuture<Boolean> before = underWay.get(shard);
      boolean busy = before != null && !before.isDone();
      if (!busy && (handoff == null || isItsTurn(shard, handoff))) {
        underWay.put(
            shard,
            next(view)
                .exceptionally(
                    broken -> {
                      LOG.error(
                          "catalog shard {}: a step failed; it is tried again", shard, broken);
                      return false;
                    }));
      }
    }
  }

  /** What this host leads, by catalog shard; what is over is forgotten. */
  private List<CatalogView> led() {
    List<CatalogView> led = new ArrayList<>();
    for (int shard = 0; shard < CatalogShards.COUNT; shard++) {
      Optional<CatalogView> view = log.leads(shard) ? log.local(shard) : Optional.empty();
      if (view.isEmpty() || view.get().placement() == null) {
        seen.remove(shard);
        underWay.remove(shard);
        continue;
      }
      led.add(view.get());
      Handoff handoff = view.get().handoff();
      Seen before = seen.get(shard);
      if (handoff == null) {
        seen.remove(shard);
      } else if (before != null && !before.is(handoff)) {
        see(shard, handoff);
      }
    }
    return led;
  }

  private boolean isItsTurn(int shard, Handoff handoff) {
    if (!seen.containsKey(shard)) {
      long open =
          seen.values().stream().filter(each -> each.step() != Handoff.Step.COMMITTED).count();
      if (handoff.step() != Handoff.Step.COMMITTED && open >= limits.atOnce()) {
        return false;
      }
      see(shard, handoff);
    }
    return true;
  }

  private void see(int shard, Handoff handoff) {
    seen.put(shard, new Seen(handoff.attempt(), handoff.step(), clock.getAsLong()));
    LOG.info(
        "catalog shard {}: handoff {} from {} to {} is {}",
        shard,
        handoff.attempt(),
        handoff.former(),
        handoff.target(),
        handoff.step());
  }

  private CompletableFuture<Boolean> next(CatalogView view) {
    int shard = view.catalogShard();
    Handoff handoff = view.handoff();
    Placement placement = view.placement();
    if (placement == null) {
      return no();
    }
    if (handoff == null) {
      return log.configure(shard, placement.members(), List.of()).thenApply(HandoffDriver::is);
    }
    if (handoff.step() != Handoff.Step.COMMITTED && isOverdue(shard)) {
      LOG.warn(
          "catalog shard {}: handoff {} to {} is rolled back: nothing moved for {}",
          shard,
          handoff.attempt(),
          handoff.target(),
          limits.giveUpAfter());
      return propose(shard, new CatalogCommand.RollBackHandoff(handoff.attempt()));
    }
    return switch (handoff.step()) {
      case PREPARED ->
          log.configure(shard, handoff.former(), joining(handoff))
              .thenCompose(answer -> is(answer) ? whole(placement, handoff) : no())
              .thenCompose(
                  whole ->
                      whole
                          ? propose(shard, new CatalogCommand.CaughtUp(handoff.attempt()))
                          : no());
      case CAUGHT_UP ->
          whole(placement, handoff)
              .thenCompose(
                  whole ->
                      whole
                          ? propose(shard, new CatalogCommand.CommitHandoff(handoff.attempt()))
                          : no());
      case COMMITTED ->
          log.configure(shard, handoff.target(), List.of())
              .thenCompose(
                  answer ->
                      is(answer)
                          ? propose(shard, new CatalogCommand.RetireHandoff(handoff.attempt()))
                          : no());
    };
  }

  private boolean isOverdue(int shard) {
    Seen since = seen.get(shard);
    return since != null
        && clock.getAsLong() - since.sinceNanos() >= limits.giveUpAfter().toNanos();
  }

  private static List<NodeId> joining(Handoff handoff) {
    List<NodeId> joining = new ArrayList<>(handoff.target());
    joining.removeAll(handoff.former());
    return joining;
  }

  /**
   * Whether all who join have whole tables, and of all members to be more than half: one that stays
   * may have started again a moment ago.
   */
  private CompletableFuture<Boolean> whole(Placement placement, Handoff handoff) {
    Set<NodeId> missing = ConcurrentHashMap.newKeySet();
    List<CompletableFuture<Boolean>> asked = new ArrayList<>();
    for (NodeId host : handoff.target()) {
      asked.add(
          tables
              .isWhole(host, placement.catalogShard(), placement.generation())
              .thenApply(whole -> whole || missing.add(host)));
    }
    return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
        .thenApply(
            _ ->
                missing.stream().noneMatch(joining(handoff)::contains)
                    && 2 * missing.size() < handoff.target().size());
  }

  private CompletableFuture<Boolean> propose(int shard, CatalogCommand command) {
    return log.propose(shard, List.of(command))
        .thenApply(
            answer ->
                answer instanceof LogAnswer.Given<List<CatalogAnswer>>(var answers)
                    && answers.getFirst() instanceof CatalogAnswer.Accepted);
  }

  private static boolean is(LogAnswer<Boolean> answer) {
    return answer instanceof LogAnswer.Given<Boolean>;
  }

  private static CompletableFuture<Boolean> no() {
    return CompletableFuture.completedFuture(false);
  }
}
