package io.orbitkv.state;

import java.util.Arrays;

/**
 * Every block of the host by slot: columns in {@link BlockChunk}s, one index by key and one by id.
 *
 * <p>There is no object per block. A slot is a number that a block keeps from its reservation until
 * its memory returned; then another block may get it, so slots are never written down.
 *
 * <p>Blocks of one prompt mostly lie in neighbouring slots, so walks along a prompt first look
 * whether the next slot holds the next block, and ask an index only if not: a comparison in
 * sequential memory instead of two cache misses.
 *
 * <p>The digest is a sum over independent parts (identity, state, each slice, each pin), so that
 * every change costs one subtraction and one addition. Callers check legality; methods here only
 * do.
 */
final class BlockTable {
  private static final long ID_PART = 0x1B0C4A6F0D5E7A11L;
  private static final long SLICE_PART = 0x2C9D0E3B5A7F1863L;
  private static final long PIN_PART = 0x35F1B28D694C0E77L;
  private static final long STATE_PART = 0x4E7A93C15D20B8F6L;

  /** Keys whose lookups run side by side. */
  private static final int BATCH = SlotIndex.BATCH;

  private final long[] hashes = new long[BATCH];
  private final int[] candidates = new int[BATCH];

  private BlockChunk[] chunks = new BlockChunk[16];
  private int chunkCount;
  private GroupRow[] rows = new GroupRow[16];
  private final LongMap<FreeSlots> shapes = new LongMap<>();
  private final SlotIndex byKey = new SlotIndex();
  private final SlotIndex byId = new SlotIndex();

  private final long[] blocksByState = new long[4];
  private long extentBytes;
  private long extents;
  private long digest;

  // ---- groups ----------------------------------------------------------------------------------

  /** The number for the next {@link GroupRow}: the lowest that no bound group has. */
  int freeRow() {
    for (int row = 0; row < rows.length; row++) {
      if (rows[row] == null) {
        return row;
      }
    }
    rows = Arrays.copyOf(rows, rows.length * 2);
    return rows.length / 2;
  }

  void addGroup(GroupRow group) {
    rows[group.row] = group;
  }

  @SuppressWarnings("NullAway") // a free row is null, and no slot refers to one
  void removeGroup(GroupRow group) {
    rows[group.row] = null;
  }

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
    if (slot >>> BlockChunk.BITS >= chunkCount) {
      return false;
    }
    BlockChunk chunk = chunk(slot);
    int at = slot & BlockChunk.MASK;
    if (chunk.keyBytes != length || chunk.row[at] != group.row) {
      return false;
    }
    byte state = chunk.state[at];
    int from = at * length;
    return (state == BlockChunk.SEALED || state == BlockChunk.RESERVED)
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
    long hash = Mix.mix(blockId);
    for (int skip = 0; ; skip++) {
      int slot = byId.find(hash, skip);
      if (slot < 0 || blockId(slot) == blockId) {
        return slot;
      }
    }
  }

  /** The same; fast when the block lies behind {@code neighbour}, which may be -1. */
  int slotOf(long blockId, int neighbour) {
    int guess = neighbour + 1;
    if (guess > 0 && guess >>> BlockChunk.BITS < chunkCount && blockId(guess) == blockId) {
      return guess;
    }
    return slotOf(blockId);
  }

  // ---- columns ---------------------------------------------------------------------------------

  byte state(int slot) {
    return chunk(slot).state[slot & BlockChunk.MASK];
  }

  /** 0 when the slot is free. */
  long blockId(int slot) {
    return chunk(slot).blockId[slot & BlockChunk.MASK];
  }

  int pins(int slot) {
    return chunk(slot).pins[slot & BlockChunk.MASK];
  }

  long reservedAt(int slot) {
    return chunk(slot).reservedAt[slot & BlockChunk.MASK];
  }

  GroupRow group(int slot) {
    return rows[chunk(slot).row[slot & BlockChunk.MASK]];
  }

  int keyBytes(int slot) {
    return chunk(slot).keyBytes;
  }

  void copyKey(int slot, byte[] target, int offset) {
    BlockChunk chunk = chunk(slot);
    int from = (slot & BlockChunk.MASK) * chunk.keyBytes;
    System.arraycopy(chunk.keys, from, target, offset, chunk.keyBytes);
  }

  int slices(int slot) {
    return chunk(slot).slices;
  }

  byte sliceState(int slot, int slice) {
    return chunk(slot).sliceState[at(slot, slice)];
  }

  long offset(int slot, int slice) {
    return chunk(slot).offset[at(slot, slice)];
  }

  long generation(int slot, int slice) {
    return chunk(slot).generation[at(slot, slice)];
  }

  long checksum(int slot, int slice) {
    return chunk(slot).checksum[at(slot, slice)];
  }

  int extentBytes(int slot, int slice) {
    return chunk(slot).extentBytes[at(slot, slice)];
  }

  /** Every slot is below it. */
  int slotLimit() {
    return chunkCount << BlockChunk.BITS;
  }

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
    return digest;
  }

  /** The ids of all blocks, ascending. */
  long[] idsInOrder() {
    long[] ids = new long[(int) (blocksByState[1] + blocksByState[2] + blocksByState[3])];
    int count = 0;
    for (int i = 0; i < chunkCount; i++) {
      for (long id : chunks[i].blockId) {
        if (id != 0) {
          ids[count++] = id;
        }
      }
    }
    Arrays.sort(ids);
    return ids;
  }

  // ---- changes ---------------------------------------------------------------------------------

  /** A new block in state RESERVED without any slice. */
  int create(GroupRow group, long blockId, byte[] packed, int offset, int length, long position) {
    int slot = takeSlot(length, group.slices);
    BlockChunk chunk = chunk(slot);
    int at = slot & BlockChunk.MASK;
    chunk.blockId[at] = blockId;
    chunk.reservedAt[at] = position;
    chunk.pins[at] = 0;
    chunk.row[at] = group.row;
    chunk.state[at] = BlockChunk.RESERVED;
    System.arraycopy(packed, offset, chunk.keys, at * length, length);
    long hash = Mix.bytes(group.seed, packed, offset, length);
    byKey.insert(hash, slot);
    byId.insert(Mix.mix(blockId), slot);
    blocksByState[BlockChunk.RESERVED]++;
    group.blocks++;
    digest += identityPart(blockId, hash, position) + statePart(blockId, BlockChunk.RESERVED);
    return slot;
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
    digest += slicePart(slot, slice);
  }

  /** The slice's bytes are in place; answers whether every slice of the block is published now. */
  boolean publishSlice(int slot, int slice, long checksum) {
    BlockChunk chunk = chunk(slot);
    int at = at(slot, slice);
    digest -= slicePart(slot, slice);
    chunk.checksum[at] = checksum;
    chunk.sliceState[at] = BlockChunk.SLICE_PUBLISHED;
    digest += slicePart(slot, slice);
    return ++chunk.published[slot & BlockChunk.MASK] == chunk.slices;
  }

  void freeSlice(int slot, int slice, Effects effects) {
    BlockChunk chunk = chunk(slot);
    int at = at(slot, slice);
    digest -= slicePart(slot, slice);
    if (chunk.sliceState[at] == BlockChunk.SLICE_PUBLISHED) {
      chunk.published[slot & BlockChunk.MASK]--;
    }
    chunk.sliceState[at] = BlockChunk.SLICE_EMPTY;
    extentBytes -= chunk.extentBytes[at];
    extents--;
    effects.extentFreed(chunk.offset[at], chunk.extentBytes[at], chunk.generation[at]);
  }

  boolean hasNoSlice(int slot) {
    for (int slice = 0; slice < slices(slot); slice++) {
      if (sliceState(slot, slice) != BlockChunk.SLICE_EMPTY) {
        return false;
      }
    }
    return true;
  }

  void seal(int slot) {
    become(slot, BlockChunk.SEALED);
  }

  /** The block is found no more; without a pin it is gone at once. */
  void evict(int slot, Effects effects) {
    long hash = keyHash(slot);
    byKey.remove(hash, slot);
    become(slot, BlockChunk.EVICTED);
    if (pins(slot) == 0) {
      vanish(slot, hash, effects);
    }
  }

  void pin(int slot) {
    BlockChunk chunk = chunk(slot);
    int at = slot & BlockChunk.MASK;
    chunk.pins[at]++;
    digest += pinPart(chunk.blockId[at]);
  }

  /** Takes a pin away; an evicted block goes with its last one. */
  void unpin(int slot, Effects effects) {
    BlockChunk chunk = chunk(slot);
    int at = slot & BlockChunk.MASK;
    digest -= pinPart(chunk.blockId[at]);
    if (--chunk.pins[at] == 0 && chunk.state[at] == BlockChunk.EVICTED) {
      vanish(slot, keyHash(slot), effects);
    }
  }

  /** A block whose last slice was given back before it was sealed: nothing of it is left. */
  void forget(int slot) {
    long hash = keyHash(slot);
    byKey.remove(hash, slot);
    vanish(slot, hash, Effects.NONE);
  }

  private void vanish(int slot, long keyHash, Effects effects) {
    BlockChunk chunk = chunk(slot);
    int at = slot & BlockChunk.MASK;
    for (int slice = 0; slice < chunk.slices; slice++) {
      if (sliceState(slot, slice) != BlockChunk.SLICE_EMPTY) {
        freeSlice(slot, slice, effects);
      }
    }
    long blockId = chunk.blockId[at];
    digest -= identityPart(blockId, keyHash, chunk.reservedAt[at]);
    digest -= statePart(blockId, chunk.state[at]);
    blocksByState[chunk.state[at]]--;
    rows[chunk.row[at]].blocks--;
    byId.remove(Mix.mix(blockId), slot);
    chunk.blockId[at] = 0;
    chunk.state[at] = BlockChunk.FREE;
    giveSlot(chunk, slot);
  }

  private void become(int slot, byte state) {
    BlockChunk chunk = chunk(slot);
    int at = slot & BlockChunk.MASK;
    long blockId = chunk.blockId[at];
    blocksByState[chunk.state[at]]--;
    blocksByState[state]++;
    digest += statePart(blockId, state) - statePart(blockId, chunk.state[at]);
    chunk.state[at] = state;
  }

  // ---- slots -----------------------------------------------------------------------------------

  private int takeSlot(int keyBytes, int slices) {
    FreeSlots shape = shapes.get(FreeSlots.id(keyBytes, slices));
    if (shape == null) {
      shape = new FreeSlots(keyBytes, slices);
      shapes.put(FreeSlots.id(keyBytes, slices), shape);
    }
    if (shape.head < 0) {
      addChunk(shape);
    }
    int slot = shape.head;
    shape.head = pins(slot);
    if (shape.head < 0) {
      shape.tail = -1;
    }
    return slot;
  }

  private void giveSlot(BlockChunk chunk, int slot) {
    FreeSlots shape = chunk.shape;
    chunk.pins[slot & BlockChunk.MASK] = -1;
    if (shape.tail < 0) {
      shape.head = slot;
    } else {
      chunk(shape.tail).pins[shape.tail & BlockChunk.MASK] = slot;
    }
    shape.tail = slot;
  }

  private void addChunk(FreeSlots shape) {
    if (chunkCount == chunks.length) {
      chunks = Arrays.copyOf(chunks, chunks.length * 2);
    }
    BlockChunk chunk = new BlockChunk(shape);
    int first = chunkCount << BlockChunk.BITS;
    chunks[chunkCount++] = chunk;
    for (int at = 0; at < BlockChunk.SLOTS; at++) {
      giveSlot(chunk, first + at);
    }
  }

  // ---- digest and accounting -------------------------------------------------------------------

  /** What {@link #digest()} must be, computed from the columns. */
  long digestFromScratch() {
    long sum = 0;
    for (int slot = 0; slot < slotLimit(); slot++) {
      byte state = state(slot);
      if (state == BlockChunk.FREE) {
        continue;
      }
      long blockId = blockId(slot);
      sum += identityPart(blockId, keyHash(slot), reservedAt(slot)) + statePart(blockId, state);
      sum += pinPart(blockId) * pins(slot);
      for (int slice = 0; slice < slices(slot); slice++) {
        if (sliceState(slot, slice) != BlockChunk.SLICE_EMPTY) {
          sum += slicePart(slot, slice);
        }
      }
    }
    return sum;
  }

  /** Heap taken by columns and indexes, counted from the lengths of the arrays. */
  long heapBytes() {
    long bytes = byKey.heapBytes() + byId.heapBytes() + 4L * (chunks.length + rows.length);
    for (int i = 0; i < chunkCount; i++) {
      bytes += chunks[i].heapBytes();
    }
    return bytes;
  }

  long keyHash(int slot) {
    BlockChunk chunk = chunk(slot);
    int from = (slot & BlockChunk.MASK) * chunk.keyBytes;
    return Mix.bytes(group(slot).seed, chunk.keys, from, chunk.keyBytes);
  }

  long indexedKeys() {
    return byKey.size();
  }

  long indexedIds() {
    return byId.size();
  }

  private static long identityPart(long blockId, long keyHash, long position) {
    return Mix.mix(Mix.chain(Mix.chain(blockId ^ ID_PART, keyHash), position));
  }

  private static long statePart(long blockId, byte state) {
    return Mix.mix(blockId * 4 + state + STATE_PART);
  }

  private static long pinPart(long blockId) {
    return Mix.mix(blockId ^ PIN_PART);
  }

  private long slicePart(int slot, int slice) {
    BlockChunk chunk = chunk(slot);
    int at = at(slot, slice);
    long hash = Mix.chain(blockId(slot) ^ SLICE_PART, (slice << 2) | chunk.sliceState[at]);
    hash = Mix.chain(hash, chunk.offset[at]);
    hash = Mix.chain(hash, chunk.generation[at]);
    hash = Mix.chain(hash, chunk.extentBytes[at]);
    return Mix.mix(Mix.chain(hash, chunk.checksum[at]));
  }

  private BlockChunk chunk(int slot) {
    return chunks[slot >>> BlockChunk.BITS];
  }

  private int at(int slot, int slice) {
    return (slot & BlockChunk.MASK) * chunk(slot).slices + slice;
  }
}
