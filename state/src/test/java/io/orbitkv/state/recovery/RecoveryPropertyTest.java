package io.orbitkv.state.recovery;

import static io.orbitkv.state.identity.Samples.NAMESPACE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.SeededTries;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The compiled contract against {@link LiteralRecovery}, on models and evidence at random. */
class RecoveryPropertyTest {

  private static final Namespace OTHER = new Namespace("other");
  private static final int LAST_TOKEN = 120;
  private static final int TRIES = 3_000;

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
  private static Model model(Random random) {
    int[] pages = {1, 2, 3, 4, 4, 5, 6, 8, 8, 12};
    Map<Integer, GroupSpec> groups = new LinkedHashMap<>();
    for (int left = 1 + random.nextInt(4); left > 0; left--) {
      RecoveryRule rule =
          switch (random.nextInt(3)) {
            case 0 -> new RecoveryRule.Prefix();
            case 1 -> new RecoveryRule.Window(1 + random.nextInt(40));
            default -> new RecoveryRule.Checkpoint();
          };
      int id = random.nextInt(10);
      groups.putIfAbsent(id, Samples.group(id, pages[random.nextInt(pages.length)], rule));
    }
    return new Model(List.copyOf(groups.values()));
  }

  @Test
  void shouldAskForExactlyTheTokensThatTheRulesName() {
    int[] tally = new int[3];
    SeededTries.run(TRIES, random -> tally[askForTokens(model(random), tail(random))]++);
    assertVaried(tally);
  }

  /** Which case the try was: 0 refused, 1 empty span, 2 ranges. */
  private static int askForTokens(Model model, Tail tail) {
    RecoveryContract contract = RecoveryContract.compile(model.groups).orElseThrow();
    LiteralRecovery literal = new LiteralRecovery(model.groups);
    int start = tail.start(contract);
    int end = tail.end(contract);
    boolean legal = start <= end && literal.isBoundary(start) && literal.isBoundary(end);

    var answer = contract.requiredRanges(NAMESPACE, start, end);

    assertEquals(legal, answer.refusal().isEmpty(), answer::toString);
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
    return !legal ? 0 : start == end ? 1 : 2;
  }

  @Test
  void shouldFindExactlyTheBoundariesThatTheLeasesAllow() {
    int[] tally = new int[4];
    SeededTries.run(
        TRIES,
        random ->
            tally[findBoundaries(model(random), tail(random), holes(random), strays(random))]++);
    assertVaried(tally);
  }

  /** Which case the try was: 0 refused, 1 no boundary, 2 one, 3 several. */
  private static int findBoundaries(
      Model model, Tail tail, Set<Integer> holes, List<Lease> strays) {
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
      return 0;
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
    return Math.min(3, 1 + found.size());
  }

  private static void assertVaried(int[] tally) {
    if (System.getProperty("orbitkv.test.seed") == null) {
      for (int cases : tally) {
        assertTrue(cases > TRIES / 50, "the tries hardly vary: " + Arrays.toString(tally));
      }
    }
  }

  /** Mostly between two possible boundaries of the model; otherwise anything, backwards too. */
  private static Tail tail(Random random) {
    int a = random.nextInt(LAST_TOKEN + 1);
    int b = random.nextInt(LAST_TOKEN + 1);
    return random.nextInt(10) > 0
        ? new Tail(true, Math.min(a, b), Math.max(a, b))
        : new Tail(false, a, b);
  }

  /** Pages that nobody holds, each as {@code group index * 128 + page}. */
  private static Set<Integer> holes(Random random) {
    Set<Integer> holes = new TreeSet<>();
    for (int left = random.nextInt(7); left > 0; left--) {
      holes.add(random.nextInt(4) * 128 + random.nextInt(31));
    }
    return holes;
  }

  /** Leases that fill a hole only when namespace, group and span are all right. */
  private static List<Lease> strays(Random random) {
    List<Lease> strays = new ArrayList<>();
    for (int left = random.nextInt(21); left > 0; left--) {
      strays.add(
          new Lease(
              random.nextBoolean() ? NAMESPACE : OTHER,
              random.nextInt(10),
              random.nextInt(LAST_TOKEN + 1),
              random.nextInt(13)));
    }
    return strays;
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
