package io.orbitkv.state.recovery;

import static io.orbitkv.state.identity.Samples.NAMESPACE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.Limits;
import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.ParallelShape;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.identity.Samples;
import io.orbitkv.state.identity.StateComponent;
import io.orbitkv.state.identity.StateDescriptor;
import io.orbitkv.state.identity.StateFormat;
import io.orbitkv.state.identity.StateKey;
import io.orbitkv.state.identity.TokenSpan;
import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

class StateBundleTest {

  private static final StateFormat FORMAT =
      Samples.format(
          Samples.group(3, 64, new RecoveryRule.Prefix()),
          Samples.group(7, 16, new RecoveryRule.Window(100)));
  private static final RecoveryContract CONTRACT =
      RecoveryContract.compile(FORMAT.groups()).orElseThrow();

  @Test
  void shouldCountABlockThatIsWhatItsGroupHolds() {
    StateBundle bundle = new StateBundle(NAMESPACE, FORMAT, CONTRACT);
    StateDescriptor page = describe(128, 192, StateComponent.ATTENTION_KV, FORMAT);
    assertTrue(bundle.hold(key(NAMESPACE, 3), page).isEmpty());
    assertTrue(bundle.covers(0, 2));
    assertFalse(bundle.covers(0, 1));
    assertFalse(bundle.covers(0, 3));
    assertFalse(bundle.covers(1, 2));
    bundle.clear();
    assertFalse(bundle.covers(0, 2));
  }

  @Test
  void shouldNameWhyABlockDoesNotCount() {
    StateFormat cut =
        new StateFormat(
            "sha256:model",
            "engine-1.2",
            "bfloat16",
            "NHD",
            new ParallelShape(2, 1, 1, 8),
            FORMAT.groups());
    StateComponent kv = StateComponent.ATTENTION_KV;
    Namespace other = new Namespace("other");
    assertNotCounted("key.namespace", key(other, 3), describe(0, 64, kv, FORMAT));
    assertNotCounted("key.group", key(NAMESPACE, 4), describe(0, 64, kv, FORMAT));
    assertNotCounted(
        "descriptor.component", key(NAMESPACE, 3), describe(0, 64, StateComponent.MLA, FORMAT));
    assertNotCounted(
        "descriptor.format.parallel.tensorParallel", key(NAMESPACE, 3), describe(0, 64, kv, cut));
    for (int[] span : new int[][] {{1, 65}, {0, 32}, {0, 128}, {64, 64}, {32, 96}}) {
      assertNotCounted(
          "descriptor.span", key(NAMESPACE, 3), describe(span[0], span[1], kv, FORMAT));
    }
  }

  @Test
  void shouldHoldRangesLikeABitSet() {
    long seed = Long.getLong("orbitkv.test.seed", 20_260_101L);
    System.out.println("StateBundleTest: repeat with -Dorbitkv.test.seed=" + seed);
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      StateBundle bundle = new StateBundle(NAMESPACE, FORMAT, CONTRACT);
      BitSet model = new BitSet();
      for (int i = 0; i < 6; i++) {
        int first = random.nextInt(300);
        int count = random.nextInt(4) == 0 ? 0 : random.nextInt(200);
        bundle.holdPages(1, first, count);
        model.set(first, first + count);
        for (int page = 0; page < 700; page++) {
          assertEquals(model.get(page), bundle.covers(1, page), "seed " + seed + " page " + page);
          int end = page + random.nextInt(300);
          assertEquals(
              Math.min(model.nextClearBit(page), end),
              bundle.nextHole(1, page, end),
              "seed " + seed + " hole in [" + page + "," + end + ")");
        }
      }
    }
  }

  @Test
  void shouldRefuseToGrowBeyondTheLastToken() {
    StateBundle bundle = new StateBundle(NAMESPACE, FORMAT, CONTRACT);
    int pages = Limits.MAX_TOKENS / 64;
    bundle.holdPages(0, pages - 1, 1);
    assertTrue(bundle.covers(0, pages - 1));
    assertThrows(IndexOutOfBoundsException.class, () -> bundle.holdPages(0, pages, 1));
    assertThrows(IndexOutOfBoundsException.class, () -> bundle.holdPages(0, -1, 1));
    assertThrows(IndexOutOfBoundsException.class, () -> bundle.holdPages(0, 1, -1));
    assertThrows(IndexOutOfBoundsException.class, () -> bundle.holdPages(0, 1, Integer.MAX_VALUE));
    assertThrows(IndexOutOfBoundsException.class, () -> bundle.holdPages(2, 0, 1));
  }

  @Test
  void shouldNotMixAContractWithAForeignFormat() {
    GroupSpec alone = Samples.group(3, 64, new RecoveryRule.Prefix());
    StateFormat foreign = Samples.format(alone);
    assertThrows(
        IllegalArgumentException.class, () -> new StateBundle(NAMESPACE, foreign, CONTRACT));
  }

  private static void assertNotCounted(String field, StateKey key, StateDescriptor descriptor) {
    StateBundle bundle = new StateBundle(NAMESPACE, FORMAT, CONTRACT);
    assertEquals(field, bundle.hold(key, descriptor).orElseThrow().field());
    for (int g = 0; g < 2; g++) {
      for (int page = 0; page < 16; page++) {
        assertFalse(bundle.covers(g, page));
      }
    }
  }

  private static StateKey key(Namespace namespace, int group) {
    return new StateKey(namespace, group, Samples.hash(1, 2, 3));
  }

  private static StateDescriptor describe(
      int start, int end, StateComponent component, StateFormat format) {
    return new StateDescriptor(new TokenSpan(start, end), component, format);
  }
}
