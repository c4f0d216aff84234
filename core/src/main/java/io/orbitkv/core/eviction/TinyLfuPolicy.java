package io.orbitkv.core.eviction;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import com.github.benmanes.caffeine.cache.RemovalCause;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * W-TinyLFU by Caffeine: a small admission window in front of a segmented LRU, and a sketch of past
 * frequencies that decides whether a newcomer is worth more than the victim it would push out.
 *
 * <p>Caffeine is keyed by the block's key hash, so that a block that comes back after its eviction
 * still has its history. It runs on the calling thread only. Its bound is {@value
 * #SHARE_OF_POOL_PERCENT} % of the pool: Caffeine evicts after an insertion while an extent is
 * needed before one, and the rest is the room in which a publish is copied. Where that is not
 * enough {@link #takeVictim} asks Caffeine for its coldest entries.
 */
public final class TinyLfuPolicy implements EvictionPolicy {
  static final int SHARE_OF_POOL_PERCENT = 98;

  private static final int WEIGHT_UNIT_BYTES = 512;
  private static final int ABSENT = -1;

  private record Entry(int slot, int weight) {}

  private final Cache<Long, Entry> cache;
  private final Policy.Eviction<Long, Entry> eviction;

  /** What Caffeine pushed out and nobody has been told of yet. */
  private final ArrayDeque<Entry> pushedOut = new ArrayDeque<>();

  private long[] keyHashBySlot = new long[1024];
  private int[] weightBySlot = new int[1024];
  private int size;

  /**
   * @param poolBytes bytes of the pool whose blocks are held, at least 1
   */
  public TinyLfuPolicy(long poolBytes) {
    if (poolBytes <= 0) {
      throw new IllegalArgumentException("a pool holds at least one byte, not " + poolBytes);
    }
    Arrays.fill(weightBySlot, ABSENT);
    cache =
        Caffeine.newBuilder()
            .maximumWeight(Math.max(1, poolBytes / WEIGHT_UNIT_BYTES * SHARE_OF_POOL_PERCENT / 100))
            .weigher((Long key, Entry entry) -> entry.weight())
            .executor(Runnable::run)
            .evictionListener(
                (@Nullable Long key, @Nullable Entry entry, RemovalCause cause) -> {
                  if (entry != null) {
                    pushedOut.add(entry);
                  }
                })
            .build();
    eviction = cache.policy().eviction().orElseThrow();
  }

  @Override
  public void sealed(int slot, long keyHash, long bytes, IntConsumer unwanted) {
    ensure(slot);
    if (weightBySlot[slot] != ABSENT) {
      throw new IllegalStateException("slot " + slot + " is in the policy already");
    }
    int weight =
        (int) Math.min(Integer.MAX_VALUE, (bytes + WEIGHT_UNIT_BYTES - 1) / WEIGHT_UNIT_BYTES);
    keyHashBySlot[slot] = keyHash;
    weightBySlot[slot] = weight;
    size++;
    Entry twin = cache.asMap().put(keyHash, new Entry(slot, weight));
    if (twin != null) {
      pushedOut.add(twin);
    }
    cache.cleanUp();
    for (Entry out = pushedOut.poll(); out != null; out = pushedOut.poll()) {
      forget(out.slot());
      unwanted.accept(out.slot());
    }
  }

  @Override
  public void touched(int slot) {
    if (holds(slot)) {
      var _ = cache.getIfPresent(keyHashBySlot[slot]);
    }
  }

  @Override
  public void removed(int slot) {
    if (holds(slot)) {
      if (!pushedOut.removeIf(out -> out.slot() == slot)) {
        cache.invalidate(keyHashBySlot[slot]);
      }
      forget(slot);
    }
  }

  @Override
  public int takeVictim(IntPredicate mayGo) {
    cache.cleanUp();
    for (Entry out : pushedOut) {
      if (mayGo.test(out.slot())) {
        removed(out.slot());
        return out.slot();
      }
    }
    for (int look = 16; ; look = Math.multiplyExact(look, 8)) {
      var coldest = eviction.coldest(look);
      for (Entry entry : coldest.values()) {
        if (mayGo.test(entry.slot())) {
          removed(entry.slot());
          return entry.slot();
        }
      }
      if (coldest.size() < look) {
        return -1;
      }
    }
  }

  @Override
  public void putBack(int slot, long keyHash, long bytes, IntConsumer unwanted) {
    sealed(slot, keyHash, bytes, unwanted);
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public String name() {
    return "tinylfu";
  }

  private boolean holds(int slot) {
    return slot < weightBySlot.length && weightBySlot[slot] != ABSENT;
  }

  private void forget(int slot) {
    weightBySlot[slot] = ABSENT;
    size--;
  }

  private void ensure(int slot) {
    int old = weightBySlot.length;
    if (slot >= old) {
      int grown = Math.max(slot + 1, old * 3 / 2);
      keyHashBySlot = Arrays.copyOf(keyHashBySlot, grown);
      weightBySlot = Arrays.copyOf(weightBySlot, grown);
      Arrays.fill(weightBySlot, old, grown, ABSENT);
    }
  }
}
