package io.orbitkv.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.HostEvent.EvictionCause;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What transcripts cannot show: memory, reuse of slots, batches of keys, a broken state. */
class HostStateTest {
  private static final int KEY_BYTES = 32;
  private static final int EXTENT_BYTES = 64;

  private final HostState state = new HostState();

  HostStateTest() {
    for (String line :
        List.of("epoch 1 pool=1073741824", "bind 1 chat", "register 1 engine in=1", "open 1")) {
      apply(FactText.parse(line));
    }
  }

  @Test
  void shouldHoldABlockInAtMost120BytesOfHeap() {
    // Both ends of the range in which the indexes' load moves between two growths.
    for (int blocks = 100_000; blocks <= 200_000; blocks += 10_000) {
      while (state.sealedBlocks() < blocks) {
        publish(state.nextBlockId(), keys(state.nextBlockId(), 500));
      }
      double each = state.heapBytes() / (double) blocks;
      assertTrue(each <= 120, () -> each + " bytes a block");
    }
  }

  @Test
  void shouldReuseSlotsWhenBlocksComeAndGo() {
    for (int round = 0; round < 50; round++) {
      long first = state.nextBlockId();
      publish(first, keys(first, 1000));
      if (round >= 3) {
        evict(LongRanges.of(first - 3000, 1000));
      }
    }
    assertEquals(3000, state.sealedBlocks());
    assertTrue(state.slotLimit() <= 5 * BlockChunk.SLOTS, () -> state.slotLimit() + " slots");
    HostInvariants.checkDeep(state);
  }

  @Test
  void shouldFindThePrefixOfAPrompt() {
    Keys keys = keys(1, 2048);
    publish(1, keys);
    int[] slots = new int[2048];
    assertEquals(2048, state.findPrefix(1, 0, keys, 0, slots));
    for (int i = 0; i < slots.length; i++) {
      assertEquals(1 + i, state.blockId(slots[i]));
    }
    assertEquals(2048 - 5, state.findPrefix(1, 0, keys, 5, slots));
    assertEquals(6, state.blockId(slots[0]));
    assertEquals(7, state.findPrefix(1, 0, keys, 0, new int[7]));
    evict(LongRanges.of(1001, 1));
    assertEquals(1000, state.findPrefix(1, 0, keys, 0, slots));
    assertEquals(0, state.findPrefix(1, 0, keys, 1000, slots));
    assertEquals(1047, state.findPrefix(1, 0, keys, 1001, slots));
    assertEquals(0, state.findPrefix(1, 9, keys, 0, slots));
    state.findSlots(1, 0, keys, 0, 2048, slots);
    for (int i = 0; i < slots.length; i++) {
      assertEquals(i == 1000 ? -1 : 1 + i, slots[i] < 0 ? -1 : state.blockId(slots[i]));
    }
    state.findSlots(1, 9, keys, 0, 2, slots);
    assertEquals(-1, slots[0]);
  }

  @Test
  void shouldFindBlocksInAnyOrder() {
    int blocks = 5000;
    publish(1, keys(1, blocks));
    Random random = new Random(3);
    byte[] packed = new byte[300 * KEY_BYTES];
    List<Long> wanted = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      long id = 1L + random.nextInt(2 * blocks);
      System.arraycopy(keys(id, 1).packed(), 0, packed, i * KEY_BYTES, KEY_BYTES);
      wanted.add(id > blocks ? -1 : id);
    }
    int[] slots = new int[300];
    state.findSlots(1, 0, Keys.ofPacked(KEY_BYTES, packed), 0, 300, slots);
    for (int i = 0; i < 300; i++) {
      assertEquals(wanted.get(i), (Long) (slots[i] < 0 ? -1 : state.blockId(slots[i])));
      assertEquals(slots[i], state.findSlot(1, 0, packed, i * KEY_BYTES, KEY_BYTES));
    }
  }

  @Test
  void shouldTellKeysApartByTheirLength() {
    publish(1, Keys.ofPacked(2, new byte[2]));
    publish(2, Keys.ofPacked(3, new byte[3]));
    assertEquals(1, state.blockId(state.findSlot(1, 0, new byte[9], 0, 2)));
    assertEquals(2, state.blockId(state.findSlot(1, 0, new byte[9], 0, 3)));
    assertEquals(-1, state.findSlot(1, 0, new byte[9], 0, 4));
  }

  @Test
  void shouldRefuseAGapAndThenEverything() {
    HostEvent event = FactText.parse("digest");
    BrokenInvariant gap =
        assertThrows(BrokenInvariant.class, () -> state.apply(new Fact(9, 0, event), Effects.NONE));
    assertEquals(9, gap.position());
    assertEquals(
        "journal position 9: a fact is missing: the one before was at position 4",
        gap.getMessage());
    assertThrows(
        IllegalStateException.class, () -> state.apply(new Fact(5, 0, event), Effects.NONE));
  }

  @Test
  void shouldChangeTheDigestWithEveryFact() {
    long before = state.digest();
    apply(FactText.parse("digest"));
    assertNotEquals(before, state.digest());
  }

  @Test
  void shouldAuditExtents() {
    ExtentAudit audit = new ExtentAudit();
    audit.before(reserve(1, "0,64", 1));
    assertEquals(
        "journal position 2: Extent[offset=32, bytes=64, generation=1] is reserved over the live"
            + " Extent[offset=64, bytes=64, generation=1]",
        assertThrows(BrokenInvariant.class, () -> audit.before(reserve(2, "32", 1))).getMessage());
    audit.extentFreed(0, 64, 1);
    assertEquals(
        "journal position 3: Extent[offset=0, bytes=64, generation=1] is reserved after"
            + " generation 1 of its offset",
        assertThrows(BrokenInvariant.class, () -> audit.before(reserve(3, "0", 1))).getMessage());
    assertThrows(BrokenInvariant.class, () -> audit.extentFreed(0, 64, 1));
  }

  private static Fact reserve(long position, String at, long generation) {
    return new Fact(
        position,
        0,
        FactText.parse(
            "reserve 1 blocks=1.."
                + at.split(",", -1).length
                + " at="
                + at
                + " gen="
                + generation));
  }

  private void apply(HostEvent event) {
    state.apply(new Fact(state.position() + 1, 0, event), Effects.NONE);
  }

  private void evict(LongRanges blocks) {
    apply(new HostEvent.BlocksEvicted(blocks, EvictionCause.CAPACITY, 0, ""));
  }

  private static Keys keys(long first, int count) {
    byte[] packed = new byte[count * KEY_BYTES];
    for (int i = 0; i < count; i++) {
      byte[] key = new byte[KEY_BYTES];
      new Random(first + i).nextBytes(key);
      System.arraycopy(key, 0, packed, i * KEY_BYTES, KEY_BYTES);
    }
    return Keys.ofPacked(KEY_BYTES, packed);
  }

  private void publish(long first, Keys keys) {
    int count = keys.size();
    long[] offsets = new long[count];
    long[] generations = new long[count];
    for (int i = 0; i < count; i++) {
      offsets[i] = (first + i) * EXTENT_BYTES;
      generations[i] = 1;
    }
    long publishId = state.nextPublishId();
    apply(
        new HostEvent.SlicesReserved(
            publishId,
            1,
            "p",
            0,
            0,
            LongRanges.of(first, count),
            first,
            keys,
            Longs.of(offsets),
            Longs.of(generations),
            EXTENT_BYTES));
    apply(new HostEvent.SlicesPublished(publishId, Longs.of(new long[count])));
  }
}
