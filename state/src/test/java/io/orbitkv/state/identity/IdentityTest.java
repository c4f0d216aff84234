package io.orbitkv.state.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class IdentityTest {

  @Test
  void shouldTakeVisibleAsciiNamespacesUpTo200Characters() {
    for (String good : new String[] {"!", "~", "a/b@c:d", "x".repeat(200)}) {
      assertEquals(good, Namespace.of(good).orElseThrow().text());
    }
    for (String bad :
        new String[] {"", " ", "a b", "a\n", "\u007f", "caf\u00e9", "x".repeat(201)}) {
      assertEquals("namespace", Namespace.of(bad).refusal().orElseThrow().field(), bad);
      assertThrows(IllegalArgumentException.class, () -> new Namespace(bad));
    }
  }

  @Test
  void shouldRepeatRefusedTextOnlyBoundedAndPrintable() {
    InvalidField problem = Namespace.of("\u001b[2J" + "y".repeat(5000)).refusal().orElseThrow();
    assertEquals(InvalidField.MAX_VALUE_CHARS, problem.value().length());
    assertTrue(problem.value().chars().allMatch(c -> c >= ' ' && c <= '~'), problem.value());
    assertEquals(problem.value(), problem.under("hello").value());
    assertEquals("hello.namespace", problem.under("hello").field());
  }

  @Test
  void shouldDeriveOneNamespaceForEqualFormatsOnly() {
    GroupSpec group = Samples.group(0, 16, new RecoveryRule.Prefix());
    Namespace one = Namespace.derive("llama", Samples.format(group)).orElseThrow();
    assertEquals(one, Namespace.derive("llama", Samples.format(group)).orElseThrow());
    GroupSpec wider = Samples.group(0, 32, new RecoveryRule.Prefix());
    assertNotEquals(one, Namespace.derive("llama", Samples.format(wider)).orElseThrow());
    assertNotEquals(one, Namespace.derive("qwen", Samples.format(group)).orElseThrow());
    assertTrue(one.text().matches("llama@[0-9a-f]{32}"), one.text());
    assertTrue(Namespace.derive("my model", Samples.format(group)).refusal().isPresent());
  }

  @Test
  void shouldOrderKeysByNamespaceThenGroupThenHash() {
    List<StateKey> ordered = new ArrayList<>();
    for (String namespace : new String[] {"a", "b"}) {
      for (int group : new int[] {0, 2, 10}) {
        for (int last : new int[] {1, 0x7F, 0x80, 0xFF}) {
          ordered.add(new StateKey(new Namespace(namespace), group, Samples.hash(0, last)));
        }
      }
    }
    List<StateKey> shuffled = new ArrayList<>(ordered);
    Collections.shuffle(shuffled, new Random(7));
    Collections.sort(shuffled);
    assertEquals(ordered, shuffled);
    assertEquals("a/0/0001", ordered.getFirst().toString());
  }

  @Test
  void shouldRefuseGroupsOutOfRange() {
    for (long group : new long[] {-1, 65_536, 1L << 32}) {
      assertEquals(
          "group",
          StateKey.of(Samples.NAMESPACE, group, Samples.hash(1)).refusal().orElseThrow().field());
    }
    assertEquals(
        65_535, StateKey.of(Samples.NAMESPACE, 65_535, Samples.hash(1)).orElseThrow().group());
  }

  @Test
  void shouldRefuseSpansThatRunBackwardsOrTooFar() {
    assertEquals("start", TokenSpan.of(-1, 5).refusal().orElseThrow().field());
    assertEquals("end", TokenSpan.of(5, 4).refusal().orElseThrow().field());
    assertEquals("end", TokenSpan.of(0, Limits.MAX_TOKENS + 1L).refusal().orElseThrow().field());
    assertEquals("start", TokenSpan.of(1L << 40, 1L << 41).refusal().orElseThrow().field());
    assertEquals(7, TokenSpan.of(5, 12).orElseThrow().tokens());
  }
}
