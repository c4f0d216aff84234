package io.orbitkv.state;

import java.util.Arrays;

/**
 * Every block of the host, found by key and by id, and all that happens to blocks.
 *
 * <p>Blocks of one prompt mostly lie in neighbouring slots, so walks along a prompt first look
 * whether the next slot holds the next block, and ask an index only if not: a comparison in
 * sequential memory instead of two cache misses.
 *
 * <p>What costs time is waiting for memory. Methods that work on neighbouring slots therefore read
 * one value of every cache line that they will need, of all blocks, before they change the first:
 * the loads of a short loop run side by side, those of the long one that follows would not.
 *
 * <p>The digest is the sum of {@link BlockDigest}'s parts, kept with every change unless it is
 * deferred. Callers check legality; methods here only do, and those that work on neighbouring slots
 * stop at the first block that is not as it must be.
 */
final class BlockTable extends BlockColumns {
  /** Keys whose lookups run side by side. */
  static final int BATCH = SlotIndex.BATCH;

  /** And, behind them, what was read for no other use than to have been read. */
  private final long[] hashes = new long[BATCH + 1];

  private final int[] candidates = new int[BATCH];

  /** Blocks that are made and not indexed yet. */
  private final long[] unindexedHashes = new long[BATCH];

  private final int[] unindexedSlots = new int[BATCH];
  private int unindexed;

  private final SlotIndex byKey = new SlotIndex();
  private final IdIndex byId = new IdIndex();

  private final long[] blocksByState = new long[BlockChunk.STATES];
  private long extentBytes;
  private long extents;
  private long digest;

  /** Whether {@link #digest} is kept; if not it is computed when somebody asks. */
  private boolean summing = true;

  /** Where blocks lie on SSD. */
  final SsdTable ssd = new SsdTable(this);

  // ---- finding ---------------------------------------------------------------------------------

  /** The slot of the findable block with this key, or -1. */
  int find(GroupRow group, byte[] packed, int offset, int length) {
    return find(group, Mix.bytes(group.seed, packed, offset, length), packed, offset, length);
  }

  private int find(GroupRow group, long hash, byte[] packed, int offset, int length) {
    for (int skip = 0; ; skip++) {
      int slot = byKey.find(hash, skip);
      if (slot < 0 || findableAs(slot, group, packed, offset, length)) {
        return slot;
      }
    }
  }

  private boolean findableAs(int slot, GroupRow group, byte[] packed, int offset, int length) {
    if (slot >= slotLimit()) {
      return false;
    }
    BlockChunk chunk = chunk(slot);
    int at = slot & BlockChunk.MASK;
    if (chunk.keyBytes != length || chunk.row[at] != group.row) {
      return false;
    }
    byte state = chunk.state[at];
    int from = at * length;
    return BlockChunk.findable(state)
        && Arrays.equals(chunk.keys, from, from + length, packed, offset, offset + length);
  }

  /**
   * The leading run of sealed blocks among the keys from index {@code from}.
   *
   * @return its length; the slots are in {@code slots} from 0
   */
  int findPrefix(GroupRow group, Keys keys, int from, int[] slots) {
    int count = Math.min(keys.size() - from, slots.length);
    int done = 0;
    while (done < count) {
      int batch = Math.min(BATCH, count - done);
      findBatch(group, keys, from + done, batch, slots, done);
      for (int end = done + batch; done < end; done++) {
        if (slots[done] < 0 || state(slots[done]) != BlockChunk.SEALED) {
          return done;
        }
      }
    }
    return count;
  }

  /** The slot of every key from index {@code from}, or -1, into {@code slots} from 0. */
  void findAll(GroupRow group, Keys keys, int from, int count, int[] slots) {
    for (int done = 0; done < count; done += BATCH) {
      findBatch(group, keys, from + done, Math.min(BATCH, count - done), slots, done);
    }
  }

  /**
   * Looks behind the slot before first. Where that fails, a miss of the cache costs more than all
   * else, so the loads that will miss are begun for the whole batch before the first is waited for.
   */
  private void findBatch(
      GroupRow group, Keys keys, int from, int count, int[] slots, int slotsFrom) {
    byte[] packed = keys.packed();
    int length = keys.keyBytes();
    int guess = slotsFrom == 0 ? 0 : slots[slotsFrom - 1] + 1;
    int at = 0;
    if (guess == 0) {
      int slot = find(group, packed, keys.offset(from), length);
      slots[slotsFrom] = slot;
      guess = slot + 1;
      at = 1;
    }
    while (at < count
        && guess > 0
        && findableAs(guess, group, packed, keys.offset(from + at), length)) {
      slots[slotsFrom + at++] = guess++;
    }
    for (int i = at; i < count; i++) {
      hashes[i] = Mix.bytes(group.seed, packed, keys.offset(from + i), length);
    }
    byKey.candidates(hashes, at, count, candidates);
    for (int i = at; i < count; i++) {
      int slot = candidates[i];
      if (slot >= 0 && !findableAs(slot, group, packed, keys.offset(from + i), length)) {
        slot = find(group, hashes[i], packed, keys.offset(from + i), length);
      }
      slots[slotsFrom + i] = slot;
    }
  }

  /** The slot of a block, or -1 when there is none with this id. */
  int slotOf(long blockId) {
    return byId.find(blockId);
  }

  /** The same; fast when the block lies behind {@code neighbour}, which may be -1. */
  int slotOf(long blockId, int neighbour) {
    int guess = neighbour + 1;
    if (guess > 0 && guess < slotLimit() && blockId(guess) == blockId) {
      return guess;
    }
    return slotOf(blockId);
  }

  // ---- changes ---------------------------------------------------------------------------------

  /** So many blocks will come, of a table that has none. */
  void expect(int blocks) {
    byKey.expect(blocks);
  }

  /**
   * Like {@link #create}, for the reader of a checkpoint: a key may be found only when {@link
   * #indexCreated} was called behind it.
   */
  int createUnindexed(
      GroupRow group, long blockId, byte[] packed, int offset, int length, long position) {
    int slot = takeSlot(length, group.slices);
    long hash = Mix.bytes(group.seed, packed, offset, length);
    fill(slot, group, blockId, packed, offset, 1, position);
    if (summing) {
      digest +=
          BlockDigest.identity(blockId, hash, position)
              + BlockDigest.state(blockId, BlockChunk.RESERVED);
    }
    unindexedHashes[unindexed] = hash;
    unindexedSlots[unindexed++] = slot;
    if (unindexed == BATCH) {
      indexCreated();
    }
    return slot;
  }

  /** Makes keys findable whose cache lines are waited for together. */
  void indexCreated() {
    byKey.touch(unindexedHashes, unindexed);
    for (int i = 0; i < unindexed; i++) {
      byKey.insert(unindexedHashes[i], unindexedSlots[i]);
    }
    unindexed = 0;
  }

  /** A new block in state RESERVED without any slice. Its key is not among the findable ones. */
  int create(GroupRow group, long blockId, byte[] packed, int offset, int length, long position) {
    int slot = createUnindexed(group, blockId, packed, offset, length, position);
    indexCreated();
    return slot;
  }

  /** New blocks in neighbouring slots; their keys lie end to end. */
  private void fill(
      int slot, GroupRow group, long firstId, byte[] packed, int offset, int count, long position) {
    BlockChunk chunk = chunk(slot);
    int first = slot & BlockChunk.MASK;
    int end = first + count;
    for (int i = 0; i < count; i++) {
      chunk.blockId[first + i] = firstId + i;
    }
    Arrays.fill(chunk.reservedAt, first, end, position);
    Arrays.fill(chunk.pins, first, end, 0);
    Arrays.fill(chunk.row, first, end, group.row);
    Arrays.fill(chunk.state, first, end, BlockChunk.RESERVED);
    int length = chunk.keyBytes;
    System.arraycopy(packed, offset, chunk.keys, first * length, count * length);
    byId.insert(firstId, slot, count);
    blocksByState[BlockChunk.RESERVED] += count;
    group.blocks += count;
  }

  /**
   * New blocks in state RESERVED with one slice set aside and one pin each.
   *
   * @param keys holds their keys from index {@code from} on
   * @param count how many, at most {@link #BATCH}
   * @param offsets holds the extents' offsets from index {@code ordinal} on, as does {@code
   *     generations}
   * @return how many were made: fewer than {@code count} when the next one's key is that of a block
   *     that can be found; the table cannot be used any more then
   */
  int createReserved(
      GroupRow group,
      long firstId,
      Keys keys,
      int from,
      int count,
      long position,
      int slice,
      Longs offsets,
      Longs generations,
      int ordinal,
      int bytes) {
    byte[] packed = keys.packed();
    int length = keys.keyBytes();
    for (int i = 0; i < count; i++) {
      hashes[i] = Mix.bytes(group.seed, packed, keys.offset(from + i), length);
    }
    byKey.touch(hashes, count);
    int made = 0;
    while (made < count) {
      int slot = peekSlot(length, group.slices);
      int run = freeRun(slot, count - made);
      BlockChunk chunk = chunk(slot);
      int first = slot & BlockChunk.MASK;
      takeSlots(chunk, slot, run);
      fill(slot, group, firstId + made, packed, keys.offset(from + made), run, position);
      Arrays.fill(chunk.pins, first, first + run, 1);
      reserve(chunk, first, run, slice, offsets, generations, ordinal + made, bytes);
      // Behind the columns, so that a key that is there twice is found.
      for (int i = 0; i < run; i++) {
        int offset = keys.offset(from + made + i);
        if (!indexNew(hashes[made + i], slot + i, group, packed, offset, length)) {
          return made + i;
        }
      }
      if (summing) {
        sumReserved(chunk, first, run, hashes, made, slice);
      }
      made += run;
    }
    extents += made;
    extentBytes += (long) made * bytes;
    return made;
  }

  private static void reserve(
      BlockChunk chunk,
      int first,
      int count,
      int slice,
      Longs offsets,
      Longs generations,
      int ordinal,
      int bytes) {
    if (chunk.slices == 1) {
      offsets.copyTo(ordinal, chunk.offset, first, count);
      generations.copyTo(ordinal, chunk.generation, first, count);
      Arrays.fill(chunk.extentBytes, first, first + count, bytes);
      Arrays.fill(chunk.checksum, first, first + count, 0);
      Arrays.fill(chunk.sliceState, first, first + count, BlockChunk.SLICE_RESERVED);
      return;
    }
    for (int i = 0; i < count; i++) {
      int at = (first + i) * chunk.slices + slice;
      chunk.offset[at] = offsets.get(ordinal + i);
      chunk.generation[at] = generations.get(ordinal + i);
      chunk.extentBytes[at] = bytes;
      chunk.checksum[at] = 0;
      chunk.sliceState[at] = BlockChunk.SLICE_RESERVED;
    }
  }

  private void sumReserved(
      BlockChunk chunk, int first, int count, long[] keyHashes, int from, int slice) {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      int at = first + i;
      long id = chunk.blockId[at];
      sum +=
          BlockDigest.identity(id, keyHashes[from + i], chunk.reservedAt[at])
              + BlockDigest.state(id, BlockChunk.RESERVED)
              + BlockDigest.pin(id)
              + BlockDigest.slice(chunk, id, slice, at * chunk.slices + slice);
    }
    digest += sum;
  }

  /** Indexes a key unless a findable block has it. */
  private boolean indexNew(
      long hash, int slot, GroupRow group, byte[] packed, int offset, int length) {
    if (byKey.insertIfNew(hash, slot) < 0) {
      return true;
    }
    if (find(group, hash, packed, offset, length) >= 0) {
      return false;
    }
    byKey.insert(hash, slot); // another key with the same hash
    return true;
  }

  void reserveSlice(int slot, int slice, long offset, long generation, int bytes) {
    BlockChunk chunk = chunk(slot);
    int at = at(slot, slice);
    chunk.offset[at] = offset;
    chunk.generation[at] = generation;
    chunk.extentBytes[at] = bytes;
    chunk.checksum[at] = 0;
    chunk.sliceState[at] = BlockChunk.SLICE_RESERVED;
    extentBytes += bytes;
    extents++;
    addSlice(chunk, slot, slice, at);
  }

  private void addSlice(BlockChunk chunk, int slot, int slice, int at) {
    if (summing) {
      digest += BlockDigest.slice(chunk, blockId(slot), slice, at);
    }
  }

  private void subtractSlice(BlockChunk chunk, int slot, int slice, int at) {
    if (summing) {
      digest -= BlockDigest.slice(chunk, blockId(slot), slice, at);
    }
  }

  /** The slice's bytes are in place; answers whether every slice of the block is published now. */
  boolean publishSlice(int slot, int slice, long checksum) {
    BlockChunk chunk = chunk(slot);
    int at = at(slot, slice);
    subtractSlice(chunk, slot, slice, at);
    chunk.checksum[at] = checksum;
    chunk.sliceState[at] = BlockChunk.SLICE_PUBLISHED;
    addSlice(chunk, slot, slice, at);
    return ++chunk.published[slot & BlockChunk.MASK] == chunk.slices;
  }

  /**
   * A publish of neighbouring slots is done: each slice's bytes are in place, a block of which
   * every slice is published is sealed, and the publish's pin goes.
   *
   * @return how many blocks it was done to: fewer than {@code count} when the next one is not
   *     pinned
   */
  int publish(int slot, int count, int slice, Longs checksums, int ordinal, Effects effects) {
    BlockChunk chunk = chunk(slot);
    int first = slot & BlockChunk.MASK;
    if (chunk.isReserved(first, count)) {
      sumPublished(chunk, first, count, -1);
      chunk.seal(first, count, checksums, ordinal);
      sumPublished(chunk, first, count, 1);
      blocksByState[BlockChunk.RESERVED] -= count;
      blocksByState[BlockChunk.SEALED] += count;
      return count;
    }
    for (int i = 0; i < count; i++) {
      int at = first + i;
      if (chunk.pins[at] <= 0) {
        return i;
      }
      boolean whole = publishSlice(slot + i, slice, checksums.get(ordinal + i));
      if (whole && chunk.state[at] == BlockChunk.RESERVED) {
        seal(slot + i);
      }
      unpin(chunk, slot + i, effects);
    }
    return count;
  }

  /** Adds to the digest, so often, what the publish of blocks of one slice changes. */
  private void sumPublished(BlockChunk chunk, int first, int count, int times) {
    if (summing) {
      long sum = 0;
      for (int at = first; at < first + count; at++) {
        long id = chunk.blockId[at];
        sum +=
            BlockDigest.slice(chunk, id, 0, at)
                + BlockDigest.state(id, chunk.state[at])
                + BlockDigest.pin(id) * chunk.pins[at];
      }
      digest += sum * times;
    }
  }

  void freeSlice(int slot, int slice, Effects effects) {
    BlockChunk chunk = chunk(slot);
    int at = at(slot, slice);
    subtractSlice(chunk, slot, slice, at);
    if (chunk.sliceState[at] == BlockChunk.SLICE_PUBLISHED) {
      chunk.published[slot & BlockChunk.MASK]--;
    }
    chunk.sliceState[at] = BlockChunk.SLICE_EMPTY;
    extentBytes -= chunk.extentBytes[at];
    extents--;
    if (!effects.equals(Effects.NONE)) { // which would read two columns for nothing
      effects.extentFreed(chunk.offset[at], chunk.extentBytes[at], chunk.generation[at]);
    }
  }

  boolean hasNoSlice(int slot) {
    for (int slice = 0; slice < slices(slot); slice++) {
      if (sliceState(slot, slice) != BlockChunk.SLICE_EMPTY) {
        return false;
      }
    }
    return true;
  }

  /** Sets an extent aside for a slice that comes back from SSD; length and checksum are known. */
  void loadSlice(int slot, int slice, long offset, long generation) {
    BlockChunk chunk = chunk(slot);
    int at = at(slot, slice);
    chunk.offset[at] = offset;
    chunk.generation[at] = generation;
    chunk.sliceState[at] = BlockChunk.SLICE_LOADING;
    extentBytes += chunk.extentBytes[at];
    extents++;
    addSlice(chunk, slot, slice, at);
  }

  /** A reserved slice is one that comes back from SSD, for the reader of a checkpoint. */
  void becomeLoading(int slot, int slice, long checksum) {
    BlockChunk chunk = chunk(slot);
    int at = at(slot, slice);
    subtractSlice(chunk, slot, slice, at);
    chunk.checksum[at] = checksum;
    chunk.sliceState[at] = BlockChunk.SLICE_LOADING;
    addSlice(chunk, slot, slice, at);
  }

  /** Length and checksum of a slice that is on SSD only, for the reader of a checkpoint. */
  void describeSlice(int slot, int slice, int bytes, long checksum) {
    int at = at(slot, slice);
    chunk(slot).extentBytes[at] = bytes;
    chunk(slot).checksum[at] = checksum;
  }

  void demoted(int slot) {
    become(chunk(slot), slot & BlockChunk.MASK, BlockChunk.DEMOTED);
  }

  void loading(int slot) {
    become(chunk(slot), slot & BlockChunk.MASK, BlockChunk.LOADING);
  }

  void unverified(int slot) {
    become(chunk(slot), slot & BlockChunk.MASK, BlockChunk.UNVERIFIED);
  }

  void seal(int slot) {
    become(chunk(slot), slot & BlockChunk.MASK, BlockChunk.SEALED);
  }

  /**
   * Blocks with ascending ids in neighbouring slots are found no more; those without a pin are gone
   * at once.
   *
   * @return how many blocks it was done to: fewer than {@code count} when the next one cannot be
   *     found
   */
  int evict(int slot, int count, Effects effects) {
    BlockChunk chunk = chunk(slot);
    int first = slot & BlockChunk.MASK;
    hashes[BATCH] = chunk.touch(first, count);
    for (int i = 0; i < count; i++) {
      hashes[i] = keyHash(chunk, first + i);
    }
    byKey.touch(hashes, count);
    if (chunk.isPlain(first, count)) {
      evictPlain(chunk, slot, count, effects);
      return count;
    }
    for (int i = 0; i < count; i++) {
      int at = first + i;
      if (!BlockChunk.findable(chunk.state[at])) {
        return i;
      }
      byKey.remove(hashes[i], slot + i);
      if (chunk.pins[at] == 0) {
        vanish(chunk, slot + i, hashes[i], effects);
      } else {
        become(chunk, at, BlockChunk.EVICTED);
      }
    }
    return count;
  }

  /** Blocks with ascending ids, for which {@link BlockChunk#isPlain} holds, are gone. */
  private void evictPlain(BlockChunk chunk, int slot, int count, Effects effects) {
    int first = slot & BlockChunk.MASK;
    if (summing) {
      long sum = 0;
      for (int i = 0; i < count; i++) {
        int at = first + i;
        long id = chunk.blockId[at];
        sum +=
            BlockDigest.identity(id, hashes[i], chunk.reservedAt[at])
                + BlockDigest.state(id, BlockChunk.SEALED)
                + BlockDigest.slice(chunk, id, 0, at);
      }
      digest -= sum;
    }
    if (!effects.equals(Effects.NONE)) {
      for (int at = first; at < first + count; at++) {
        effects.extentFreed(chunk.offset[at], chunk.extentBytes[at], chunk.generation[at]);
      }
    }
    byKey.remove(hashes, count, slot);
    byId.remove(chunk.blockId[first], count);
    extentBytes -= chunk.extentBytes(first, count);
    extents -= count;
    blocksByState[BlockChunk.SEALED] -= count;
    row(chunk, first).blocks -= count;
    chunk.clear(first, count);
    giveSlots(chunk, slot, count);
  }

  void pin(int slot) {
    BlockChunk chunk = chunk(slot);
    int at = slot & BlockChunk.MASK;
    chunk.pins[at]++;
    if (summing) {
      digest += BlockDigest.pin(chunk.blockId[at]);
    }
  }

  /**
   * Pins blocks in neighbouring slots.
   *
   * @return how many: fewer than {@code count} when the next one is not a sealed one of the group
   */
  int pinSealed(int slot, int count, GroupRow group) {
    BlockChunk chunk = chunk(slot);
    int first = slot & BlockChunk.MASK;
    int done = 0;
    long sum = 0;
    for (; done < count; done++) {
      int at = first + done;
      if (chunk.state[at] != BlockChunk.SEALED || chunk.row[at] != group.row) {
        break;
      }
      chunk.pins[at]++;
      sum += summing ? BlockDigest.pin(chunk.blockId[at]) : 0;
    }
    digest += sum;
    return done;
  }

  /**
   * Pins blocks in neighbouring slots once more.
   *
   * @return how many: fewer than {@code count} when the next one is not pinned
   */
  int pinPinned(int slot, int count) {
    BlockChunk chunk = chunk(slot);
    int first = slot & BlockChunk.MASK;
    int done = 0;
    long sum = 0;
    for (; done < count && chunk.pins[first + done] > 0; done++) {
      chunk.pins[first + done]++;
      sum += summing ? BlockDigest.pin(chunk.blockId[first + done]) : 0;
    }
    digest += sum;
    return done;
  }

  /**
   * Takes a pin away from blocks in neighbouring slots; an evicted block goes with its last one.
   *
   * @return how many: fewer than {@code count} when the next one is not pinned
   */
  int unpin(int slot, int count, Effects effects) {
    BlockChunk chunk = chunk(slot);
    int first = slot & BlockChunk.MASK;
    if (chunk.isPinnedAndStays(first, count)) {
      chunk.unpin(first, count);
      for (int i = 0; summing && i < count; i++) {
        digest -= BlockDigest.pin(chunk.blockId[first + i]);
      }
      return count;
    }
    for (int i = 0; i < count; i++) {
      if (chunk.pins[first + i] <= 0) {
        return i;
      }
      unpin(chunk, slot + i, effects);
    }
    return count;
  }

  private void unpin(BlockChunk chunk, int slot, Effects effects) {
    int at = slot & BlockChunk.MASK;
    if (summing) {
      digest -= BlockDigest.pin(chunk.blockId[at]);
    }
    if (--chunk.pins[at] == 0 && chunk.state[at] == BlockChunk.EVICTED) {
      vanish(chunk, slot, keyHash(chunk, at), effects);
    }
  }

  /** A block whose last slice was given back before it was sealed: nothing of it is left. */
  void forget(int slot) {
    long hash = keyHash(slot);
    byKey.remove(hash, slot);
    vanish(chunk(slot), slot, hash, Effects.NONE);
  }

  private void vanish(BlockChunk chunk, int slot, long keyHash, Effects effects) {
    int at = slot & BlockChunk.MASK;
    for (int slice = 0; slice < chunk.slices; slice++) {
      if (chunk.sliceState[at * chunk.slices + slice] != BlockChunk.SLICE_EMPTY) {
        freeSlice(slot, slice, effects);
      }
    }
    ssd.drop(slot, effects);
    long blockId = chunk.blockId[at];
    if (summing) {
      digest -=
          BlockDigest.identity(blockId, keyHash, chunk.reservedAt[at])
              + BlockDigest.state(blockId, chunk.state[at]);
    }
    blocksByState[chunk.state[at]]--;
    row(chunk, at).blocks--;
    byId.remove(blockId);
    chunk.blockId[at] = 0;
    chunk.state[at] = BlockChunk.FREE;
    giveSlot(chunk, slot);
  }

  private void become(BlockChunk chunk, int at, byte state) {
    byte before = chunk.state[at];
    blocksByState[before]--;
    blocksByState[state]++;
    if (summing) {
      long blockId = chunk.blockId[at];
      digest += BlockDigest.state(blockId, state) - BlockDigest.state(blockId, before);
    }
    chunk.state[at] = state;
  }

  // ---- digest and accounting -------------------------------------------------------------------

  long blocks(byte state) {
    return blocksByState[state];
  }

  long extentBytes() {
    return extentBytes;
  }

  long extents() {
    return extents;
  }

  long digest() {
    if (!summing) {
      digest = digestFromScratch();
      summing = true;
    }
    return digest;
  }

  /** Stops keeping the digest until somebody asks for it. */
  void deferDigest() {
    summing = false;
  }

  /** The slots of all blocks by ascending id. */
  int[] slotsInOrder() {
    return byId.slotsInOrder();
  }

  /** What {@link #digest()} must be, computed from the columns. */
  long digestFromScratch() {
    long sum = 0;
    for (int slot = 0; slot < slotLimit(); slot++) {
      byte state = state(slot);
      if (state == BlockChunk.FREE) {
        continue;
      }
      long blockId = blockId(slot);
      sum += BlockDigest.identity(blockId, keyHash(slot), reservedAt(slot));
      sum += BlockDigest.state(blockId, state) + BlockDigest.pin(blockId) * pins(slot);
      for (int slice = 0; slice < slices(slot); slice++) {
        if (sliceState(slot, slice) != BlockChunk.SLICE_EMPTY) {
          sum += BlockDigest.slice(chunk(slot), blockId, slice, at(slot, slice));
        }
      }
    }
    return sum;
  }

  /** Heap taken by columns and indexes, counted from the lengths of the arrays. */
  long heapBytes() {
    return byKey.heapBytes() + byId.heapBytes() + columnBytes();
  }

  long keyHash(int slot) {
    return keyHash(chunk(slot), slot & BlockChunk.MASK);
  }

  private long keyHash(BlockChunk chunk, int at) {
    long seed = row(chunk, at).seed;
    return Mix.bytes(seed, chunk.keys, at * chunk.keyBytes, chunk.keyBytes);
  }

  long indexedKeys() {
    return byKey.size();
  }

  long indexedIds() {
    return byId.size();
  }
}
