package io.orbitkv.state.recovery;

import static io.orbitkv.state.identity.Samples.NAMESPACE;
import static io.orbitkv.state.identity.Samples.group;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.InvalidField;
import io.orbitkv.state.identity.Limits;
import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.RecoveryRule.Checkpoint;
import io.orbitkv.state.identity.RecoveryRule.Prefix;
import io.orbitkv.state.identity.RecoveryRule.Window;
import io.orbitkv.state.identity.StateComponent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecoveryContractTest {

  private static final GroupSpec FULL = group(0, 64, new Prefix());
  private static final GroupSpec WINDOW = group(1, 64, new Window(100));
  private static final GroupSpec CHECKPOINT = group(1, 64, new Checkpoint());

  @Test
  void shouldAskForTheWholeTailAndTheTrailingWindow() {
    assertEquals("[(0,128,512), (1,384,512)]", ranges(128, 512, FULL, WINDOW));
  }

  @Test
  void shouldAskForTheWholeTailAndTheLastCheckpoint() {
    assertEquals("[(0,128,512), (1,448,512)]", ranges(128, 512, FULL, CHECKPOINT));
  }

  @Test
  void shouldCapTheWindowByTheTail() {
    assertEquals("[(0,128,192), (1,128,192)]", ranges(128, 192, FULL, WINDOW));
  }

  @Test
  void shouldAskForNothingInAnEmptySpan() {
    assertEquals("[(0,128,128), (1,128,128)]", ranges(128, 128, FULL, WINDOW));
    assertEquals("[(0,0,0), (1,0,0)]", ranges(0, 0, FULL, CHECKPOINT));
    RecoveryContract contract = contract(FULL, WINDOW);
    Evidence everything = evidence(NAMESPACE, (_, _) -> true);
    assertEquals(BoundarySet.empty(), boundaries(contract, 128, 128, everything));
  }

  @Test
  void shouldRoundAWindowUpToWholePages() {
    assertEquals("[(1,448,512)]", ranges(0, 512, group(1, 64, new Window(1))));
    assertEquals("[(1,448,512)]", ranges(0, 512, group(1, 64, new Window(64))));
    assertEquals("[(1,384,512)]", ranges(0, 512, group(1, 64, new Window(65))));
    assertEquals("[(1,0,512)]", ranges(0, 512, group(1, 64, new Window(Limits.MAX_TOKENS))));
  }

  @Test
  void shouldUseEachGroupsOwnPage() {
    GroupSpec checkpoint = group(5, 96, new Checkpoint());
    assertEquals(
        "[(0,192,576), (1,480,576), (5,480,576)]",
        ranges(192, 576, checkpoint, FULL, group(1, 32, new Window(70))));
  }

  @Test
  void shouldRefuseEndsWherePagesOfSomeGroupDoNotEnd() {
    RecoveryContract contract = contract(FULL, group(1, 48, new Window(10)));
    assertEquals(192, contract.alignmentTokens());
    assertEquals(192, contract.alignDown(383));
    for (long[] span : new long[][] {{64, 192}, {48, 192}, {0, 191}, {0, 128}}) {
      InvalidField problem =
          contract.requiredRanges(NAMESPACE, span[0], span[1]).refusal().orElseThrow();
      assertEquals(span[0] == 0 ? "end" : "start", problem.field());
      assertEquals("give a multiple of 192 tokens", problem.remedy());
      Evidence everything = evidence(NAMESPACE, (_, _) -> true);
      assertEquals(
          problem,
          contract
              .restorableBoundaries(NAMESPACE, span[0], span[1], everything)
              .refusal()
              .orElseThrow());
    }
  }

  @Test
  void shouldRefuseSpansOutOfRange() {
    RecoveryContract contract = contract(FULL);
    for (long[] span : new long[][] {{-64, 64}, {128, 64}, {0, 1L << 32}, {1L << 62, 1L << 62}}) {
      assertTrue(contract.requiredRanges(NAMESPACE, span[0], span[1]).refusal().isPresent());
    }
    assertEquals("[(0,0,16777216)]", ranges(0, Limits.MAX_TOKENS, FULL));
  }

  @Test
  void shouldReturnEveryLegalBoundaryNotOnlyTheLongest() {
    RecoveryContract contract = contract(FULL, CHECKPOINT);
    // Checkpoints end at 192 and 384; the attention pages have a hole at [448,512).
    Evidence evidence = evidence(NAMESPACE, (g, page) -> g == 0 ? page != 7 : page % 3 == 2);
    assertEquals(BoundarySet.of(192, 384), boundaries(contract, 128, 640, evidence));
    assertEquals(BoundarySet.of(384), boundaries(contract, 192, 640, evidence));
  }

  @Test
  void shouldSkipAHoleOnceTheWindowHasPassedIt() {
    RecoveryContract contract = contract(WINDOW);
    Evidence evidence = evidence(NAMESPACE, (_, page) -> page != 4);
    assertEquals(BoundarySet.of(192, 256, 448, 512), boundaries(contract, 128, 512, evidence));
  }

  @Test
  void shouldCountNoEvidenceOfAnotherNamespace() {
    RecoveryContract contract = contract(FULL);
    Evidence other = evidence(new Namespace("other"), (_, _) -> true);
    assertEquals(BoundarySet.empty(), boundaries(contract, 0, 512, other));
    RecoveryDemand demand = contract.requiredRanges(NAMESPACE, 0, 512).orElseThrow();
    assertFalse(contract.isCovered(demand, other));
    assertTrue(contract.isCovered(demand, evidence(NAMESPACE, (_, _) -> true)));
  }

  @Test
  void shouldRefuseGroupsThatCannotBeCompiled() {
    assertRefused("groups");
    assertRefused("groups[1].groupId", FULL, group(0, 16, new Prefix()));
    assertRefused("groups[0].groupId", group(-1, 16, new Prefix()));
    assertRefused("groups[0].groupId", group(65_536, 16, new Prefix()));
    assertRefused("groups[0].pageTokens", group(0, 0, new Prefix()));
    assertRefused("groups[1].pageTokens", FULL, group(1, -64, new Prefix()));
    assertRefused("groups[0].rule.window", group(0, 64, new Window(0)));
    assertRefused("groups[0].rule.window", group(0, 64, new Window(-5)));
    assertRefused("groups[0].rule.window", group(0, 64, new Window(Integer.MAX_VALUE)));
    assertRefused(
        "groups[0].bytesPerBlock", new GroupSpec(0, StateComponent.MLA, 64, new Prefix(), true, 0));
    assertRefused(
        "groups[0].rule",
        new GroupSpec(0, StateComponent.ATTENTION_KV, 64, new Checkpoint(), false, 1));
    assertRefused(
        "groups[1].pageTokens", group(0, 65_521, new Prefix()), group(1, 65_519, new Prefix()));
    List<GroupSpec> many = new ArrayList<>();
    for (int id = 0; id <= Limits.MAX_GROUPS; id++) {
      many.add(group(id, 64, new Prefix()));
    }
    assertRefused("groups", many.toArray(GroupSpec[]::new));
  }

  @Test
  void shouldKeepGroupsInOrderOfTheirId() {
    RecoveryContract contract = contract(group(9, 16, new Prefix()), group(2, 64, new Prefix()));
    assertEquals(List.of(2, 9), contract.groups().stream().map(GroupSpec::groupId).toList());
    assertEquals(1, contract.indexOf(9));
    assertEquals(16, contract.pageTokens(1));
    assertTrue(contract.indexOf(3) < 0);
  }

  private static String ranges(long start, long end, GroupSpec... groups) {
    RecoveryDemand demand = contract(groups).requiredRanges(NAMESPACE, start, end).orElseThrow();
    assertEquals(NAMESPACE, demand.namespace());
    assertEquals(end, demand.boundary());
    return demand.ranges().toString();
  }

  private static BoundarySet boundaries(
      RecoveryContract contract, long start, long end, Evidence evidence) {
    return contract.restorableBoundaries(NAMESPACE, start, end, evidence).orElseThrow();
  }

  private static RecoveryContract contract(GroupSpec... groups) {
    return RecoveryContract.compile(List.of(groups)).orElseThrow();
  }

  private static void assertRefused(String field, GroupSpec... groups) {
    InvalidField problem = RecoveryContract.compile(List.of(groups)).refusal().orElseThrow();
    assertEquals(field, problem.field(), problem.message());
    assertFalse(problem.remedy().isEmpty());
  }

  private interface Pages {
    boolean held(int groupIndex, int page);
  }

  private static Evidence evidence(Namespace namespace, Pages pages) {
    return new Evidence() {
      @Override
      public Namespace namespace() {
        return namespace;
      }

      @Override
      public boolean covers(int groupIndex, int page) {
        return pages.held(groupIndex, page);
      }
    };
  }
}
