package io.orbitkv.core.eviction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class EvictionPolicyTest {
  private static final int BLOCK_BYTES = 512;

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
            lru.sealed(slot, slot, BLOCK_BYTES, unwanted -> {});
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

  @ParameterizedTest
  @EnumSource(Eviction.class)
  void shouldGiveAPutBackBlockAgain(Eviction eviction) {
    EvictionPolicy policy = eviction.create(100L * BLOCK_BYTES);
    for (int slot = 0; slot < 50; slot++) {
      policy.sealed(slot, slot * 31L, BLOCK_BYTES, unwanted -> {});
    }
    int victim = policy.takeVictim(slot -> true);
    policy.putBack(victim, victim * 31L, BLOCK_BYTES, unwanted -> {});
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
    EvictionPolicy policy = eviction.create(100L * BLOCK_BYTES);
    policy.sealed(5, 77, BLOCK_BYTES, unwanted -> {});
    assertThrows(
        IllegalStateException.class, () -> policy.sealed(5, 77, BLOCK_BYTES, unwanted -> {}));
  }

  @Test
  void shouldKeepFrequentBlocksAgainstAScanAndNeverLoseCount() {
    int capacity = 200;
    TinyLfuPolicy policy = new TinyLfuPolicy((long) capacity * BLOCK_BYTES);
    Map<Integer, Boolean> resident = new HashMap<>();
    for (int slot = 0; slot < 100; slot++) {
      policy.sealed(slot, hash(slot), BLOCK_BYTES, resident::remove);
      resident.put(slot, true);
    }
    for (int round = 0; round < 20; round++) {
      for (int slot = 0; slot < 100; slot++) {
        policy.touched(slot);
      }
    }
    for (int slot = 100; slot < 5_000; slot++) {
      resident.put(slot, true);
      policy.sealed(slot, hash(slot), BLOCK_BYTES, resident::remove);
      assertEquals(resident.size(), policy.size());
      assertTrue(policy.size() <= capacity);
    }
    long kept = resident.keySet().stream().filter(slot -> slot < 100).count();
    assertTrue(kept >= 95, "a scan of 4,900 blocks left " + kept + " of 100 frequent blocks");
  }

  @Test
  void shouldGiveUpTheOlderOfTwoBlocksWhoseHashesCollide() {
    TinyLfuPolicy policy = new TinyLfuPolicy(100L * BLOCK_BYTES);
    List<Integer> unwanted = new ArrayList<>();
    policy.sealed(1, 42, BLOCK_BYTES, unwanted::add);
    policy.sealed(2, 42, BLOCK_BYTES, unwanted::add);
    assertEquals(List.of(1), unwanted);
    assertEquals(1, policy.size());
    assertEquals(2, policy.takeVictim(slot -> true));
  }

  private static long hash(int slot) {
    return slot * 0x9E3779B97F4A7C15L;
  }
}
