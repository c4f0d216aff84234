package io.orbitkv.catalog.lookup;

import io.orbitkv.catalog.inventory.Candidate;
import io.orbitkv.catalog.inventory.Fingerprint;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.inventory.Tier;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import io.orbitkv.state.identity.StateKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Finds candidates for blocks that this host does not have: first in the {@link CandidateIndex},
 * then with one question for each catalog shard and {@link Question#MAX_KEYS} keys. This host's own
 * tables are asked first, then the replicas one after the other until one answers whole. A newer
 * placement in an answer is followed once. No call waits; each is over by its deadline.
 */
public final class CatalogLookup {
  private final NodeId self;
  private final LocalLookup local;
  private final PlacementView placements;
  private final ReplicaAsker asker;
  private final CandidateIndex index;
  private final Predicate<OwnerRun> usable;
  private final LongSupplier clock;

  private final LongAdder keysAsked = new LongAdder();
  private final LongAdder fromIndex = new LongAdder();
  private final LongAdder fromHere = new LongAdder();
  private final LongAdder questions = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final LongAdder stale = new LongAdder();
  private final LongAdder unanswered = new LongAdder();

  /**
   * A lookup for one host.
   *
   * @param usable whether a candidate's owner is worth asking: it is a live member and not this
   *     host
   * @param clock nanoseconds that never fall
   */
  public CatalogLookup(
      NodeId self,
      LocalLookup local,
      PlacementView placements,
      ReplicaAsker asker,
      CandidateIndex index,
      Predicate<OwnerRun> usable,
      LongSupplier clock) {
    this.self = self;
    this.local = local;
    this.placements = placements;
    this.asker = asker;
    this.index = index;
    this.usable = usable;
    this.clock = clock;
  }

  /**
   * Finds up to four candidates of each tier for each key.
   *
   * @param excluded what this request has found to be wrong before
   * @param timeout after which the rest counts as unanswered
   * @return never fails
   */
  public CompletableFuture<LookupResult> find(
      List<StateKey> keys, Exclusions excluded, Duration timeout) {
    long deadline = clock.getAsLong() + timeout.toNanos();
    List<List<Candidate>> byKey = new ArrayList<>(keys.size());
    Map<Integer, List<Wanted>> missing = new TreeMap<>();
    keysAsked.add(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      Fingerprint key = Fingerprint.of(keys.get(i));
      List<Candidate> held = choose(key, index.get(key), excluded);
      byKey.add(held);
      if (held.isEmpty()) {
        missing
            .computeIfAbsent(CatalogShards.of(keys.get(i)), _ -> new ArrayList<>())
            .add(new Wanted(i, key));
      } else {
        fromIndex.increment();
      }
    }
    List<Batch> batches = new ArrayList<>();
    missing.forEach(
        (shard, wanted) -> {
          for (int from = 0; from < wanted.size(); from += Question.MAX_KEYS) {
            int to = Math.min(wanted.size(), from + Question.MAX_KEYS);
            batches.add(new Batch(shard, wanted.subList(from, to), deadline));
          }
        });
    batches.forEach(Batch::begin);
    return CompletableFuture.allOf(
            batches.stream().map(batch -> batch.done).toArray(CompletableFuture[]::new))
        .thenApply(_ -> collect(byKey, batches, excluded));
  }

  /** The owner refused a candidate: this request leaves it out, the next one asks the catalog. */
  public void rejected(StateKey key, Candidate candidate, Exclusions excluded) {
    Fingerprint fingerprint = Fingerprint.of(key);
    excluded.add(fingerprint, candidate);
    index.forget(fingerprint);
  }

  /** Counts. */
  public LookupFigures figures() {
    return new LookupFigures(
        keysAsked.sum(),
        fromIndex.sum(),
        fromHere.sum(),
        questions.sum(),
        failures.sum(),
        stale.sum(),
        unanswered.sum());
  }

  private LookupResult collect(
      List<List<Candidate>> byKey, List<Batch> batches, Exclusions excluded) {
    int open = 0;
    for (Batch batch : batches) {
      synchronized (batch) {
        for (int i = 0; i < batch.wanted.size(); i++) {
          Wanted wanted = batch.wanted.get(i);
          List<Candidate> found = batch.found.get(i);
          index.put(wanted.key, found);
          byKey.set(wanted.at, choose(wanted.key, found, excluded));
        }
        open += batch.answered ? 0 : batch.wanted.size();
      }
    }
    unanswered.add(open);
    return new LookupResult(byKey, open);
  }

  private List<Candidate> choose(Fingerprint key, List<Candidate> candidates, Exclusions excluded) {
    if (candidates.isEmpty()) {
      return candidates;
    }
    List<Candidate> chosen = new ArrayList<>(candidates.size());
    for (Tier tier : Tier.values()) {
      for (Candidate candidate : candidates) {
        if (candidate.tier() == tier
            && usable.test(candidate.owner())
            && !excluded.has(key, candidate)) {
          chosen.add(candidate);
        }
      }
    }
    return chosen;
  }

  private record Wanted(int at, Fingerprint key) {}

  /** The keys of one question, and whom to ask next. */
  private final class Batch {
    final int catalogShard;
    final List<Wanted> wanted;
    final long deadline;
    final CompletableFuture<Boolean> done = new CompletableFuture<>();
    final List<List<Candidate>> found = new ArrayList<>();
    boolean answered;
    private Placement placement;
    private List<NodeId> toAsk;
    private boolean followed;

    Batch(int catalogShard, List<Wanted> wanted, long deadline) {
      this.catalogShard = catalogShard;
      this.wanted = wanted;
      this.deadline = deadline;
      wanted.forEach(_ -> found.add(List.of()));
      this.placement = placements.placement(catalogShard);
      this.toAsk = order(placement);
    }

    void begin() {
      if (local.serves(catalogShard)) {
        Answer answer = local.answer(question());
        if (answer instanceof Answer.Found) {
          fromHere.add(wanted.size());
        }
        take(answer);
      } else {
        askNext();
      }
    }

    private Question question() {
      List<Fingerprint> keys = wanted.stream().map(Wanted::key).toList();
      return new Question(catalogShard, placement.generation(), keys, Question.MAX_PER_TIER);
    }

    /** The other members, beginning with one that depends on this host, so that hosts spread. */
    private List<NodeId> order(Placement of) {
      List<NodeId> others = new ArrayList<>(of.members());
      others.remove(self);
      if (!others.isEmpty()) {
        Collections.rotate(
            others, Math.floorMod(self.hashCode() + 31 * catalogShard, others.size()));
      }
      return others;
    }

    private void askNext() {
      long left = deadline - clock.getAsLong();
      if (toAsk.isEmpty() || left <= 0) {
        done.complete(answered);
        return;
      }
      NodeId replica = toAsk.removeFirst();
      // A silent replica may use half of what is left, so that the next one has a chance.
      Duration timeout = Duration.ofNanos(toAsk.isEmpty() ? left : left / 2);
      questions.increment();
      var _ =
          asker
              .ask(replica, question(), timeout)
              .whenComplete(
                  (answer, failure) -> {
                    if (failure != null) {
                      failures.increment();
                      askNext();
                    } else {
                      take(answer);
                    }
                  });
    }

    private void take(Answer answer) {
      switch (answer) {
        case Answer.Found(List<List<Candidate>> byKey, boolean whole)
            when byKey.size() == wanted.size() -> {
          if (merge(byKey, whole)) {
            done.complete(true);
          } else {
            askNext();
          }
        }
        case Answer.Found _ -> {
          failures.increment();
          askNext();
        }
        case Answer.Stale(Placement current) -> {
          stale.increment();
          placements.learn(current);
          if (!followed && current.generation() > placement.generation()) {
            followed = true;
            placement = current;
            toAsk = order(current);
          }
          askNext();
        }
        case Answer.Refused _ -> {
          failures.increment();
          askNext();
        }
      }
    }

    /** True when nothing more can be learnt from another replica. */
    private synchronized boolean merge(List<List<Candidate>> byKey, boolean whole) {
      answered = true;
      boolean all = true;
      for (int i = 0; i < byKey.size(); i++) {
        if (found.get(i).isEmpty()) {
          found.set(i, byKey.get(i));
        }
        all &= !found.get(i).isEmpty();
      }
      return whole || all;
    }
  }
}
