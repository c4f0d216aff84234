package io.orbitkv.state.recovery;

import static io.orbitkv.state.identity.Samples.NAMESPACE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.SeedReport;
import io.orbitkv.state.identity.BlockHash;
import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.identity.Samples;
import io.orbitkv.state.identity.StateDescriptor;
import io.orbitkv.state.identity.StateFormat;
import io.orbitkv.state.identity.StateKey;
import io.orbitkv.state.identity.TokenSpan;
import io.orbitkv.state.recovery.LiteralRecovery.HeldToken;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;
import net.jqwik.api.statistics.Statistics;

/** The compiled contract against {@link LiteralRecovery}, on models and evidence at random. */
@AddLifecycleHook(value = SeedReport.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
class RecoveryPropertyTest {

  private static final Namespace OTHER = new Namespace("other");
  private static final int LAST_TOKEN = 120;

  /** A lease on one block. Its span may be anything; only whole pages of its group count. */
  record Lease(Namespace namespace, int group, int start, int tokens) {}

  record Model(List<GroupSpec> groups) {}

  record Tail(boolean aligned, int from, int to) {
    int start(RecoveryContract contract) {
      return aligned ? contract.alignDown(from) : from;
    }

    int end(RecoveryContract contract) {
      return aligned ? contract.alignDown(to) : to;
    }
  }

  /** Page sizes with many common boundaries and, with 3 and 5, some with few. */
  @Provide
  Arbitrary<Model> models() {
    Arbitrary<Integer> pages = Arbitraries.of(1, 2, 3, 4, 4, 5, 6, 8, 8, 12);
    Arbitrary<RecoveryRule> rules =
        Arbitraries.oneOf(
            Arbitraries.just(new RecoveryRule.Prefix()),
            Arbitraries.integers().between(1, 40).map(RecoveryRule.Window::new),
            Arbitraries.just(new RecoveryRule.Checkpoint()));
    return Combinators.combine(Arbitraries.integers().between(0, 9), pages, rules)
        .as(Samples::group)
        .list()
        .ofMinSize(1)
        .ofMaxSize(4)
        .uniqueElements(GroupSpec::groupId)
        .map(Model::new);
  }

  @Property(tries = 3_000, edgeCases = EdgeCasesMode.MIXIN)
  void shouldAskForExactlyTheTokensThatTheRulesName(
      @ForAll("models") Model model, @ForAll("tails") Tail tail) {
    RecoveryContract contract = RecoveryContract.compile(model.groups).orElseThrow();
    LiteralRecovery literal = new LiteralRecovery(model.groups);
    int start = tail.start(contract);
    int end = tail.end(contract);
    boolean legal = start <= end && literal.isBoundary(start) && literal.isBoundary(end);

    var answer = contract.requiredRanges(NAMESPACE, start, end);

    assertEquals(legal, answer.refusal().isEmpty(), answer::toString);
    Statistics.label("span").collect(!legal ? "refused" : start == end ? "empty" : "ranges");
    if (legal) {
      RecoveryDemand demand = answer.orElseThrow();
      assertEquals(contract.groups().size(), demand.ranges().size());
      for (int g = 0; g < demand.ranges().size(); g++) {
        GroupSpec group = contract.groups().get(g);
        GroupRange range = demand.ranges().get(g);
        assertEquals(group.groupId(), range.groupId());
        assertEquals(end, range.end());
        assertEquals(0, range.start() % group.pageTokens());
        assertEquals(literal.needed(group, start, end), tokens(range));
      }
    }
  }

  @Property(tries = 3_000, edgeCases = EdgeCasesMode.MIXIN)
  void shouldFindExactlyTheBoundariesThatTheLeasesAllow(
      @ForAll("models") Model model,
      @ForAll("tails") Tail tail,
      @ForAll("holes") Set<Integer> holes,
      @ForAll("strays") List<Lease> strays) {
    RecoveryContract contract = RecoveryContract.compile(model.groups).orElseThrow();
    LiteralRecovery literal = new LiteralRecovery(model.groups);
    int start = tail.start(contract);
    int end = tail.end(contract);
    List<Lease> leases = leases(contract, holes);
    leases.addAll(strays);
    StateBundle bundle = bundle(model, contract, leases);

    var answer = contract.restorableBoundaries(NAMESPACE, start, end, bundle);

    boolean legal = start <= end && literal.isBoundary(start) && literal.isBoundary(end);
    assertEquals(legal, answer.refusal().isEmpty(), answer::toString);
    if (!legal) {
      return;
    }
    BoundarySet found = answer.orElseThrow();
    List<Integer> expected = literal.restorable(start, end, heldTokens(contract, leases));
    assertEquals(expected, Arrays.stream(found.toArray()).boxed().toList());
    for (int boundary = start; boundary <= end; boundary++) {
      if (literal.isBoundary(boundary)) {
        RecoveryDemand demand = contract.requiredRanges(NAMESPACE, start, boundary).orElseThrow();
        boolean covered = boundary == start || found.contains(boundary);
        assertEquals(covered, contract.isCovered(demand, bundle));
      }
    }
    assertTrue(contract.restorableBoundaries(OTHER, start, end, bundle).orElseThrow().isEmpty());
    Statistics.label("boundaries")
        .collect(found.isEmpty() ? "none" : found.size() == 1 ? "one" : "several");
  }

  /** Mostly between two possible boundaries of the model; otherwise anything, backwards too. */
  @Provide
  Arbitrary<Tail> tails() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 9),
            Arbitraries.integers().between(0, LAST_TOKEN),
            Arbitraries.integers().between(0, LAST_TOKEN))
        .as(
            (one, a, b) ->
                one > 0 ? new Tail(true, Math.min(a, b), Math.max(a, b)) : new Tail(false, a, b));
  }

  /** Pages that nobody holds, each as {@code group index * 128 + page}. */
  @Provide
  Arbitrary<Set<Integer>> holes() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 3), Arbitraries.integers().between(0, 30))
        .as((group, page) -> group * 128 + page)
        .set()
        .ofMaxSize(6);
  }

  /** Leases that fill a hole only when namespace, group and span are all right. */
  @Provide
  Arbitrary<List<Lease>> strays() {
    return Combinators.combine(
            Arbitraries.of(NAMESPACE, OTHER),
            Arbitraries.integers().between(0, 9),
            Arbitraries.integers().between(0, LAST_TOKEN),
            Arbitraries.integers().between(0, 12))
        .as(Lease::new)
        .list()
        .ofMaxSize(20);
  }

  private static List<Lease> leases(RecoveryContract contract, Set<Integer> holes) {
    List<Lease> leases = new ArrayList<>();
    for (int g = 0; g < contract.groups().size(); g++) {
      GroupSpec group = contract.groups().get(g);
      for (int page = 0; page * group.pageTokens() < LAST_TOKEN; page++) {
        // The other namespace holds just what this one lacks.
        Namespace namespace = holes.contains(g * 128 + page) ? OTHER : NAMESPACE;
        int start = page * group.pageTokens();
        leases.add(new Lease(namespace, group.groupId(), start, group.pageTokens()));
      }
    }
    return leases;
  }

  private static StateBundle bundle(Model model, RecoveryContract contract, List<Lease> leases) {
    StateFormat format = Samples.format(model.groups.toArray(GroupSpec[]::new));
    StateBundle bundle = new StateBundle(NAMESPACE, format, contract);
    for (Lease lease : leases) {
      BlockHash hash = Samples.hash(lease.start, lease.tokens);
      StateKey key = new StateKey(lease.namespace, lease.group, hash);
      int index = Math.max(contract.indexOf(lease.group), 0);
      TokenSpan span = new TokenSpan(lease.start, lease.start + lease.tokens);
      boolean counts =
          bundle
              .hold(
                  key, new StateDescriptor(span, contract.groups().get(index).component(), format))
              .isEmpty();
      assertEquals(isWholePage(contract, lease), counts, lease::toString);
    }
    return bundle;
  }

  private static Set<HeldToken> heldTokens(RecoveryContract contract, List<Lease> leases) {
    Set<HeldToken> held = new HashSet<>();
    for (Lease lease : leases) {
      if (isWholePage(contract, lease)) {
        for (int token = lease.start; token < lease.start + lease.tokens; token++) {
          held.add(new HeldToken(lease.group, token));
        }
      }
    }
    return held;
  }

  private static boolean isWholePage(RecoveryContract contract, Lease lease) {
    return lease.namespace.equals(NAMESPACE)
        && contract.groups().stream()
            .anyMatch(
                group ->
                    group.groupId() == lease.group
                        && group.pageTokens() == lease.tokens
                        && lease.start % group.pageTokens() == 0);
  }

  private static Set<Integer> tokens(GroupRange range) {
    Set<Integer> tokens = new TreeSet<>();
    for (int token = range.start(); token < range.end(); token++) {
      tokens.add(token);
    }
    return tokens;
  }
}
