package io.orbitkv.catalog.lookup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.inventory.Candidate;
import io.orbitkv.catalog.inventory.Fingerprint;
import io.orbitkv.catalog.inventory.InventoryReceiver;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.inventory.Tier;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import io.orbitkv.state.identity.BlockHash;
import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.StateKey;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Whom a lookup asks, and what it makes of the answers. */
class CatalogLookupTest implements PlacementView {
  private static final NodeId SELF = new NodeId("a");
  private static final NodeId B = new NodeId("b");
  private static final NodeId C = new NodeId("c");
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final Map<Integer, Placement> placements = new HashMap<>();
  private final Map<NodeId, Function<Question, Answer>> replicas = new HashMap<>();
  private final List<NodeId> asked = new ArrayList<>();
  private final InventoryReceiver receiver = new InventoryReceiver(4);
  private long nanos;
  private final CatalogLookup lookup =
      new CatalogLookup(
          SELF,
          new LocalLookup(receiver, this, Set::of),
          this,
          this::ask,
          new CandidateIndex(100, Duration.ofSeconds(2), () -> nanos),
          owner -> !owner.node().equals(SELF),
          () -> nanos);

  @Override
  public Placement placement(int shard) {
    return placements.computeIfAbsent(shard, _ -> new Placement(shard, 1, List.of(B, C)));
  }

  @Override
  public void learn(Placement newer) {
    placements.put(newer.catalogShard(), newer);
  }

  private CompletableFuture<Answer> ask(NodeId replica, Question question, Duration timeout) {
    asked.add(replica);
    Function<Question, Answer> answerer = replicas.get(replica);
    if (answerer == null) {
      nanos += timeout.toNanos();
      return CompletableFuture.completedFuture(
          new Answer.Refused(new Refusal(RefusalCategory.UNAVAILABLE, "away", "wait")));
    }
    return CompletableFuture.completedFuture(answerer.apply(question));
  }

  private static StateKey key(int n) {
    byte[] hash = ByteBuffer.allocate(4).putInt(n).array();
    return new StateKey(new Namespace("m"), 0, BlockHash.read(hash, 0, 4));
  }

  private static Candidate candidate(String node, Tier tier, long generation) {
    return new Candidate(new OwnerRun(new NodeId(node), new UUID(1, 1), 1), tier, generation, 1024);
  }

  private static Answer all(Question question, boolean whole, Candidate... candidates) {
    return new Answer.Found(question.keys().stream().map(_ -> List.of(candidates)).toList(), whole);
  }

  private LookupResult find(Exclusions excluded, StateKey... keys) {
    return lookup.find(List.of(keys), excluded, SECOND).join();
  }

  @Test
  void shouldAskOneReplicaForAllKeysOfACatalogShard() {
    Candidate found = candidate("c", Tier.DRAM, 5);
    List<Integer> sizes = new ArrayList<>();
    Function<Question, Answer> answerer =
        question -> {
          sizes.add(question.keys().size());
          return all(question, true, found);
        };
    replicas.put(B, answerer);
    replicas.put(C, answerer);
    StateKey[] keys = new StateKey[500];
    Set<Integer> shards = new java.util.HashSet<>();
    for (int i = 0; i < keys.length; i++) {
      keys[i] = key(i);
      shards.add(CatalogShards.of(keys[i]));
    }
    LookupResult result = find(new Exclusions(), keys);
    assertEquals(shards.size(), asked.size());
    assertEquals(500, sizes.stream().mapToInt(size -> size).sum());
    assertTrue(result.byKey().stream().allMatch(List.of(found)::equals));
    assertEquals(0, result.unanswered());
  }

  @Test
  void shouldAskTheNextReplicaWhenOneIsAway() {
    replicas.put(C, question -> all(question, true, candidate("c", Tier.DRAM, 5)));
    for (int i = 0; i < 20; i++) {
      assertEquals(1, find(new Exclusions(), key(i)).byKey().get(0).size());
    }
    assertTrue(asked.contains(B), "b never came first");
  }

  @Test
  void shouldAskTheNextReplicaWhenOneIsNotWhole() {
    replicas.put(B, question -> all(question, false));
    replicas.put(C, question -> all(question, false, candidate("c", Tier.DRAM, 5)));
    for (int i = 0; i < 20; i++) {
      assertEquals(1, find(new Exclusions(), key(i)).byKey().get(0).size());
    }
  }

  @Test
  void shouldBeOverByItsDeadline() {
    LookupResult result = find(new Exclusions(), key(1));
    assertEquals(1, result.unanswered());
    assertEquals(List.of(), result.byKey().get(0));
    assertTrue(nanos <= SECOND.toNanos());
  }

  @Test
  void shouldFollowANewerPlacementOnce() {
    NodeId d = new NodeId("d");
    Answer stale = new Answer.Stale(new Placement(CatalogShards.of(key(1)), 2, List.of(d)));
    replicas.put(B, _ -> stale);
    replicas.put(C, _ -> stale);
    replicas.put(
        d,
        question -> {
          assertEquals(2, question.generation());
          return all(question, true, candidate("d", Tier.SSD, 1));
        });
    assertEquals(1, find(new Exclusions(), key(1)).byKey().get(0).size());
    assertEquals(2, asked.size());
    assertEquals(2, placement(CatalogShards.of(key(1))).generation());

    asked.clear();
    replicas.put(
        d,
        question ->
            new Answer.Stale(
                new Placement(
                    question.catalogShard(), question.generation() + 1, List.of(d, B, C))));
    nanos += TimeUnit.SECONDS.toNanos(3);
    assertEquals(1, find(new Exclusions(), key(1)).unanswered());
    assertTrue(asked.size() <= 4, "asked " + asked);
  }

  @Test
  void shouldHoldFindsForAWhileAndMissesNever() {
    replicas.put(B, question -> all(question, true));
    replicas.put(C, question -> all(question, true));
    find(new Exclusions(), key(1));
    find(new Exclusions(), key(1));
    assertEquals(2, asked.size());
    replicas.put(B, question -> all(question, true, candidate("c", Tier.DRAM, 5)));
    replicas.put(C, question -> all(question, true, candidate("c", Tier.DRAM, 5)));
    find(new Exclusions(), key(1));
    find(new Exclusions(), key(1));
    assertEquals(3, asked.size());
    assertEquals(1, lookup.figures().fromIndex());
    nanos += TimeUnit.SECONDS.toNanos(3);
    find(new Exclusions(), key(1));
    assertEquals(4, asked.size());
  }

  @Test
  void shouldLeaveARejectedCandidateOutOfOneRequestOnly() {
    Candidate bad = candidate("b", Tier.DRAM, 5);
    Candidate good = candidate("c", Tier.SSD, 6);
    Candidate own = candidate("a", Tier.DRAM, 7);
    replicas.put(B, question -> all(question, true, good, own, bad));
    replicas.put(C, replicas.get(B));
    Exclusions request = new Exclusions();
    assertEquals(List.of(bad, good), find(request, key(1)).byKey().get(0));
    lookup.rejected(key(1), bad, request);
    assertEquals(List.of(good), find(request, key(1)).byKey().get(0));
    assertEquals(List.of(bad, good), find(new Exclusions(), key(1)).byKey().get(0));
  }

  @Test
  void shouldAnswerFromItsOwnTablesFirst() {
    int shard = CatalogShards.of(key(1));
    receiver.serve(shard);
    assertEquals(0, find(new Exclusions(), key(1)).unanswered());
    assertEquals(List.of(), asked);
    Fingerprint key = Fingerprint.of(key(1));
    Question old = new Question(shard, 0, List.of(key), 4);
    LocalLookup local = new LocalLookup(receiver, this, () -> Set.of(B));
    assertEquals(new Answer.Stale(placement(shard)), local.answer(old));
    Question now = new Question(shard, 1, List.of(key), 4);
    assertEquals(new Answer.Found(List.of(List.of()), false), local.answer(now));
  }
}
