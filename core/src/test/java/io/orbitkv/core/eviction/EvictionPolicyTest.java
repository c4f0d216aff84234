package io.orbitkv.core.eviction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class EvictionPolicyTest {

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13})
  void shouldTakeVictimsInTheOrderOfALinkedHashMap(long seed) {
    LruPolicy lru = new LruPolicy();
    Map<Integer, Boolean> model = new LinkedHashMap<>(16, 0.75f, true);
    Random random = new Random(seed);
    for (int step = 0; step < 50_000; step++) {
      int slot = random.nextInt(3_000);
      switch (random.nextInt(4)) {
        case 0 -> {
          if (model.putIfAbsent(slot, true) == null) {
            lru.entered(slot, hash(slot));
          } else {
            lru.touched(slot);
          }
        }
        case 1 -> {
          model.get(slot);
          lru.touched(slot);
        }
        case 2 -> {
          model.remove(slot);
          lru.removed(slot);
        }
        default -> {
          int pinned = random.nextInt(8);
          int expected =
              model.keySet().stream().filter(s -> s % 8 != pinned).findFirst().orElse(-1);
          assertEquals(
              expected, lru.takeVictim(s -> s % 8 != pinned), "seed " + seed + " step " + step);
          model.remove(expected);
        }
      }
      assertEquals(model.size(), lru.size());
    }
  }

  /** Two policies get the same calls; a set says what they hold. */
  @ParameterizedTest
  @EnumSource(Eviction.class)
  void shouldHoldWhatItWasGivenAndDecideAlikeEachTime(Eviction eviction) {
    long seed = 20261201;
    EvictionPolicy policy = eviction.create();
    EvictionPolicy twin = eviction.create();
    Set<Integer> held = new LinkedHashSet<>();
    Random random = new Random(seed);
    for (int step = 0; step < 100_000; step++) {
      String at = eviction + " seed " + seed + " step " + step;
      int slot = random.nextInt(random.nextInt(4) == 0 ? 3_000 : 300);
      int choice = random.nextInt(10);
      if (choice < 5 && held.add(slot)) {
        policy.entered(slot, hash(slot));
        twin.entered(slot, hash(slot));
      } else if (choice < 7) {
        policy.touched(slot);
        twin.touched(slot);
      } else if (choice == 7) {
        held.remove(slot);
        policy.removed(slot);
        twin.removed(slot);
      } else if (choice == 8 || held.size() > 2_000) {
        int pinned = random.nextInt(4);
        int victim = policy.takeVictim(s -> s % 4 != pinned);
        assertEquals(victim, twin.takeVictim(s -> s % 4 != pinned), at);
        if (victim < 0) {
          assertTrue(held.stream().allMatch(s -> s % 4 == pinned), at);
        } else {
          assertTrue(victim % 4 != pinned && held.contains(victim), at);
          if (random.nextInt(5) == 0) {
            policy.putBack(victim, hash(victim));
            twin.putBack(victim, hash(victim));
          } else {
            held.remove(victim);
          }
        }
      }
      assertEquals(held.size(), policy.size(), at);
    }
    for (int left = held.size(); left > 0; left--) {
      assertTrue(held.remove(policy.takeVictim(s -> true)));
    }
    assertEquals(-1, policy.takeVictim(s -> true));
    assertEquals(0, policy.size());
  }

  @ParameterizedTest
  @EnumSource(Eviction.class)
  void shouldGiveAPutBackBlockAgain(Eviction eviction) {
    EvictionPolicy policy = eviction.create();
    for (int slot = 0; slot < 50; slot++) {
      policy.entered(slot, hash(slot));
    }
    int victim = policy.takeVictim(slot -> true);
    policy.putBack(victim, hash(victim));
    assertEquals(50, policy.size());
    List<Integer> all = new ArrayList<>();
    for (int slot = policy.takeVictim(s -> true); slot >= 0; slot = policy.takeVictim(s -> true)) {
      all.add(slot);
    }
    assertEquals(50, all.size());
    assertTrue(all.contains(victim));
    assertEquals(0, policy.size());
  }

  @ParameterizedTest
  @EnumSource(Eviction.class)
  void shouldRefuseABlockTwice(Eviction eviction) {
    EvictionPolicy policy = eviction.create();
    policy.entered(5, 77);
    assertThrows(IllegalStateException.class, () -> policy.entered(5, 77));
  }

  @Test
  void shouldKeepFrequentBlocksAgainstAScan() {
    int capacity = 200;
    TinyLfuPolicy policy = new TinyLfuPolicy();
    Set<Integer> resident = new LinkedHashSet<>();
    for (int slot = 0; slot < 100; slot++) {
      policy.entered(slot, hash(slot));
      resident.add(slot);
    }
    for (int slot = 0; slot < 100; slot++) {
      policy.touched(slot);
    }
    for (int slot = 100; slot < 5_000; slot++) {
      if (resident.size() == capacity) {
        resident.remove(policy.takeVictim(s -> true));
      }
      policy.entered(slot, hash(slot));
      resident.add(slot);
      if (slot % 50 == 0) {
        resident.stream().filter(s -> s < 100).forEach(policy::touched);
      }
    }
    long kept = resident.stream().filter(slot -> slot < 100).count();
    assertTrue(kept >= 95, "a scan of 4,900 blocks left " + kept + " of 100 frequent blocks");
  }

  private static long hash(int slot) {
    long mixed = slot * 0x9E3779B97F4A7C15L;
    return mixed ^ (mixed >>> 29);
  }
}
