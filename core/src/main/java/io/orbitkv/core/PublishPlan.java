package io.orbitkv.core;

import io.orbitkv.core.Reply.PublishOutcome;
import io.orbitkv.core.pool.Extent;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Keys;
import io.orbitkv.state.LongRanges;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.agrona.collections.IntArrayList;
import org.agrona.collections.IntHashSet;
import org.jspecify.annotations.Nullable;

/**
 * What to do with each block of one publish, decided in request order before any fact is written.
 *
 * <p>A block that needs memory takes it from what is free; once nothing is, each further one takes
 * victims from the eviction policy until they hold as many bytes as are wanted. A victim counts as
 * gone for the blocks after it, as it would if the blocks came one by one; its memory is allocated
 * only after the fact that evicts it.
 */
final class PublishPlan {
  /** A block that is to be stored: a new one, or one that another shard began. */
  private record Wanted(int ordinal, long joinedBlockId) {}

  private final Host host;
  private final LiveNamespace namespace;
  private final int groupId;
  private final int shard;
  private final Keys keys;
  private final int extentBytes;

  private final byte[] outcomes;
  private final long[] blockIds;
  private final List<Wanted> wanted = new ArrayList<>();
  private final List<@Nullable Extent> extents = new ArrayList<>();
  private final IntArrayList victims = new IntArrayList();
  private final IntHashSet victimSlots = new IntHashSet();
  private @Nullable KeySet wantedKeys;
  private boolean poolExhausted;
  private boolean policyExhausted;
  private long victimBytes;
  private long debtBytes;

  PublishPlan(
      Host host, LiveNamespace namespace, int groupIndex, int shard, Keys keys, int extentBytes) {
    this.host = host;
    this.namespace = namespace;
    this.groupId = namespace.group(groupIndex).groupId();
    this.shard = shard;
    this.keys = keys;
    this.extentBytes = extentBytes;
    this.outcomes = new byte[keys.size()];
    this.blockIds = new long[keys.size()];
  }

  /** Decides every block; touches those that are there. */
  void decide() {
    HostState state = host.state;
    for (int i = 0; i < keys.size(); i++) {
      int slot =
          state.findSlot(namespace.id, groupId, keys.packed(), keys.offset(i), keys.keyBytes());
      if (slot >= 0 && victimSlots.contains(slot) && !state.onSsd(slot)) {
        slot = -1;
      }
      if (slot >= 0 && (state.stored(slot) || state.reserved(slot, shard))) {
        blockIds[i] = state.blockId(slot);
        outcomes[i] = outcomeOfHeld(slot).code();
      } else if (repeated(i)) {
        outcomes[i] = PublishOutcome.ALREADY.code();
      } else if (takeRoom()) {
        wanted.add(new Wanted(i, slot < 0 ? 0 : state.blockId(slot)));
      } else {
        outcomes[i] = PublishOutcome.REFUSED.code();
      }
    }
  }

  private PublishOutcome outcomeOfHeld(int slot) {
    if (host.state.stored(slot) || host.state.unverified(slot)) {
      host.touched(slot);
      return PublishOutcome.ALREADY;
    }
    return host.state.present(slot, shard) ? PublishOutcome.ALREADY : PublishOutcome.ELSEWHERE;
  }

  /** Whether an earlier block of this request that is to be stored has the same key. */
  private boolean repeated(int ordinal) {
    KeySet seen = wantedKeys;
    if (seen == null) {
      seen = new KeySet(keys);
      wantedKeys = seen;
    }
    return !seen.add(ordinal);
  }

  private boolean takeRoom() {
    if (!poolExhausted) {
      Extent extent = host.extents.allocate(extentBytes);
      if (extent != null) {
        extents.add(extent);
        return true;
      }
      poolExhausted = true;
    }
    if (policyExhausted || !takeVictims(debtBytes + extentBytes)) {
      policyExhausted = true;
      return false;
    }
    debtBytes += extentBytes;
    extents.add(null);
    return true;
  }

  /** Takes victims until all of the plan hold so many bytes; takes none if there are not enough. */
  private boolean takeVictims(long neededBytes) {
    int before = victims.size();
    while (victimBytes < neededBytes) {
      int slot = host.takeVictim();
      if (slot < 0) {
        putBackFrom(before);
        return false;
      }
      addVictim(slot);
    }
    return true;
  }

  private void addVictim(int slot) {
    victims.addInt(slot);
    victimSlots.add(slot);
    victimBytes += host.allocatedBytes(slot);
  }

  private void putBackFrom(int first) {
    int[] slots = victims.toIntArray();
    while (victims.size() > first) {
      victims.removeAt(victims.size() - 1);
    }
    for (int i = slots.length - 1; i >= first; i--) {
      victimSlots.remove(slots[i]);
      victimBytes -= host.allocatedBytes(slots[i]);
      host.policy.putBack(slots[i], host.keyHash(slots[i]));
    }
  }

  boolean needsVictims() {
    return !victims.isEmpty();
  }

  /** The blocks that leave DRAM, in the order they were chosen; from here on none are counted. */
  IntArrayList takeVictims() {
    IntArrayList taken = new IntArrayList();
    taken.addAll(victims);
    victims.clear();
    return taken;
  }

  /**
   * Allocates what was left open, after the victims are evicted. Where extents of several sizes
   * share the pool, the freed bytes may not lie together: then more victims are asked for.
   *
   * @return false when {@link #takeVictims()} must be evicted first and this called again
   */
  boolean allocate() {
    for (int i = 0; i < wanted.size(); i++) {
      if (extents.get(i) == null) {
        Extent extent = host.extents.allocate(extentBytes);
        if (extent == null) {
          if (takeVictims(victimBytes + extentBytes)) {
            return false;
          }
          refuseFrom(i);
          return victims.isEmpty();
        }
        extents.set(i, extent);
      }
    }
    return true;
  }

  private void refuseFrom(int first) {
    int kept = 0;
    for (int i = 0; i < wanted.size(); i++) {
      if (i < first || extents.get(i) != null) {
        wanted.set(kept, wanted.get(i));
        extents.set(kept++, extents.get(i));
      } else {
        outcomes[wanted.get(i).ordinal()] = PublishOutcome.REFUSED.code();
      }
    }
    wanted.subList(kept, wanted.size()).clear();
    extents.subList(kept, extents.size()).clear();
  }

  // ---- columns of the fact, in request order
  // -----------------------------------------------------------------------

  int stored() {
    return wanted.size();
  }

  Extent extent(int index) {
    Extent extent = extents.get(index);
    if (extent == null) {
      throw new IllegalStateException("block " + index + " of the plan has no memory yet");
    }
    return extent;
  }

  /** Place in the request of a stored block. */
  int ordinal(int index) {
    return wanted.get(index).ordinal();
  }

  /** Ids of the stored blocks; new ones are numbered from {@code firstNewBlockId}. */
  LongRanges numberBlocks(long firstNewBlockId) {
    LongRanges.Builder ids = new LongRanges.Builder();
    long next = firstNewBlockId;
    for (Wanted block : wanted) {
      long id = block.joinedBlockId() != 0 ? block.joinedBlockId() : next++;
      blockIds[block.ordinal()] = id;
      ids.add(id);
    }
    return ids.build();
  }

  Keys newKeys() {
    byte[] packed = new byte[wanted.size() * keys.keyBytes()];
    int count = 0;
    for (Wanted block : wanted) {
      if (block.joinedBlockId() == 0) {
        System.arraycopy(
            keys.packed(),
            keys.offset(block.ordinal()),
            packed,
            count++ * keys.keyBytes(),
            keys.keyBytes());
      }
    }
    return Keys.ofPacked(keys.keyBytes(), Arrays.copyOf(packed, count * keys.keyBytes()));
  }

  /** One {@link PublishOutcome#code} for each block of the request. */
  byte[] outcomes() {
    return outcomes;
  }

  /** The block of each key of the request, 0 where there is none. */
  long[] blockIds() {
    return blockIds;
  }
}
