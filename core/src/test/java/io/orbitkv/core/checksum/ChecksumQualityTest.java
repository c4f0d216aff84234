package io.orbitkv.core.checksum;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The faults that happen in practice, on contents that make a weak sum blind. */
class ChecksumQualityTest {
  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;
  private static final int PAGE = 4096;
  private static final int EXTENT = 8 * PAGE;
  private static final long SEED = Long.getLong("orbitkv.checksum.seed", 20_263);

  private final SplittableRandom random = new SplittableRandom(SEED);
  private final Arena arena = Arena.ofAuto();

  /** One content, by name. */
  private record Content(String name, MemorySegment memory) {
    @Override
    public String toString() {
      return name + "; repeat with -Dorbitkv.checksum.seed=" + SEED;
    }
  }

  @Test
  void shouldSeeEverySingleBitFlip() {
    for (Content content : contents(2 * PAGE)) {
      long before = value(content.memory());
      for (int bit = 0; bit < 2 * PAGE * 8; bit++) {
        flip(content.memory(), bit);
        assertNotEquals(before, value(content.memory()), () -> "" + content);
        flip(content.memory(), bit);
      }
    }
  }

  @Test
  void shouldSeeEveryPairOfFlipsOfTheTopBitsOfWords() {
    for (Content content : contents(2 * PAGE)) {
      for (int bit : new int[] {63, 62, 32, 31}) {
        // A pair goes unseen exactly when the two changes of the sum cancel.
        Set<Long> changes = new HashSet<>();
        long before = sum(content.memory());
        for (int word = 0; word < 2 * PAGE / 8; word++) {
          flip(content.memory(), word * 64 + bit);
          long change = sum(content.memory()) - before;
          flip(content.memory(), word * 64 + bit);
          assertTrue(!changes.contains(-change), () -> "bit " + bit + " of two words, " + content);
          changes.add(change);
        }
      }
    }
  }

  @Test
  void shouldSeeRandomDoubleFlips() {
    for (Content content : contents(2 * PAGE)) {
      long before = value(content.memory());
      for (int round = 0; round < 50_000; round++) {
        int first = random.nextInt(2 * PAGE * 8);
        int second = (first + 1 + random.nextInt(2 * PAGE * 8 - 1)) % (2 * PAGE * 8);
        flip(content.memory(), first);
        flip(content.memory(), second);
        assertNotEquals(before, value(content.memory()), () -> "" + content);
        flip(content.memory(), first);
        flip(content.memory(), second);
      }
    }
  }

  @Test
  void shouldSeeSwappedWordsPagesAndHalves() {
    for (Content content : contents(EXTENT)) {
      for (int bytes : new int[] {8, 16, 64, 256, PAGE, 2 * PAGE, EXTENT / 2}) {
        int units = EXTENT / bytes;
        for (int round = 0; round < 200; round++) {
          int first = random.nextInt(units);
          int second = (first + 1 + random.nextInt(units - 1)) % units;
          assertChangeSeen(content, memory -> swap(memory, first, second, bytes));
        }
      }
    }
  }

  @Test
  void shouldSeeShiftedData() {
    for (Content content : contents(EXTENT)) {
      for (int shift : new int[] {1, 2, 4, 8, 16, 64, 128, 256, 1024, PAGE, 2 * PAGE}) {
        assertChangeSeen(content, memory -> rotate(memory, shift));
      }
    }
  }

  @Test
  void shouldSeeZeroedAndStaleStretches() {
    MemorySegment stale = randomMemory(EXTENT);
    for (Content content : contents(EXTENT)) {
      for (int bytes : new int[] {8, 64, 512, PAGE, 2 * PAGE}) {
        for (int at = 0; at < EXTENT; at += bytes) {
          int offset = at;
          assertChangeSeen(content, memory -> memory.asSlice(offset, bytes).fill((byte) 0));
          assertChangeSeen(
              content, memory -> MemorySegment.copy(stale, offset, memory, offset, bytes));
          assertChangeSeen(
              content,
              memory -> MemorySegment.copy(memory, 0, memory, EXTENT - bytes - offset, bytes));
        }
      }
    }
  }

  @Test
  void shouldSeeATruncatedTail() {
    for (Content content : contents(EXTENT)) {
      Set<Long> values = new HashSet<>();
      for (int bytes = 0; bytes <= 3 * PAGE; bytes++) {
        values.add(Checksum.finish(Checksum.sum(content.memory(), 0, bytes, 0), bytes));
      }
      assertEquals(3 * PAGE + 1, values.size(), () -> "" + content);
    }
  }

  @Test
  void shouldSpreadSimilarExtentsOverAllBits() {
    // 100,000 extents of zeros that differ in one or two small numbers: within each 32-bit half of
    // the value about 1.2 pairs collide by chance, within the 64 bits none.
    int count = 100_000;
    MemorySegment memory = arena.allocate(PAGE, 64);
    long[] values = new long[count];
    for (int i = 0; i < count; i++) {
      memory.fill((byte) 0);
      memory.set(WORD, 8L * (i % 512), 1 + i / 512);
      memory.set(WORD, 8L * ((i + 200) % 512), i % 3);
      values[i] = value(memory);
    }
    assertEquals(0, collisions(values, -1L), "64 bits");
    assertTrue(collisions(values, 0xFFFF_FFFFL) <= 12, "low half");
    assertTrue(collisions(values, 0xFFFF_FFFFL << 32) <= 12, "high half");
  }

  private interface Fault {
    void inflict(MemorySegment memory);
  }

  private void assertChangeSeen(Content content, Fault fault) {
    long bytes = content.memory().byteSize();
    try (Arena copyArena = Arena.ofConfined()) {
      MemorySegment copy = copyArena.allocate(bytes, 64).copyFrom(content.memory());
      fault.inflict(copy);
      if (copy.mismatch(content.memory()) >= 0) {
        assertNotEquals(value(content.memory()), value(copy), () -> "" + content);
      }
    }
  }

  private List<Content> contents(int bytes) {
    List<Content> contents = new ArrayList<>();
    contents.add(new Content("zeros", arena.allocate(bytes, 64)));
    MemorySegment ones = arena.allocate(bytes, 64);
    ones.fill((byte) 0xFF);
    contents.add(new Content("ones", ones));
    contents.add(new Content("random", randomMemory(bytes)));

    MemorySegment repeated = arena.allocate(bytes, 64);
    MemorySegment counters = arena.allocate(bytes, 64);
    MemorySegment lowHalves = arena.allocate(bytes, 64);
    MemorySegment brainFloats = arena.allocate(bytes, 64);
    for (int word = 0; word < bytes / 8; word++) {
      repeated.setAtIndex(WORD, word, 0x0123_4567_89AB_CDEFL * (1 + word % 8));
      counters.setAtIndex(WORD, word, word);
      lowHalves.setAtIndex(WORD, word, random.nextInt() & 0xFFFF_FFFFL);
      long four = 0;
      for (int i = 0; i < 4; i++) {
        double value = (random.nextDouble() - 0.5) * 0.25;
        four = four << 16 | Float.floatToRawIntBits((float) value) >>> 16;
      }
      brainFloats.setAtIndex(WORD, word, four);
    }
    contents.add(new Content("a 64-byte pattern", repeated));
    contents.add(new Content("counters", counters));
    contents.add(new Content("words whose high half is zero", lowHalves));
    contents.add(new Content("bf16 near zero", brainFloats));
    return contents;
  }

  private MemorySegment randomMemory(int bytes) {
    byte[] data = new byte[bytes];
    random.nextBytes(data);
    return arena.allocate(bytes, 64).copyFrom(MemorySegment.ofArray(data));
  }

  private static long sum(MemorySegment memory) {
    return Checksum.sum(memory, 0, memory.byteSize(), 0);
  }

  private static long value(MemorySegment memory) {
    return Checksum.finish(sum(memory), memory.byteSize());
  }

  private static void flip(MemorySegment memory, int bit) {
    long word = memory.getAtIndex(WORD, bit / 64);
    memory.setAtIndex(WORD, bit / 64, word ^ 1L << (bit % 64));
  }

  private static void swap(MemorySegment memory, int first, int second, int bytes) {
    byte[] kept = memory.asSlice((long) first * bytes, bytes).toArray(ValueLayout.JAVA_BYTE);
    MemorySegment.copy(memory, (long) second * bytes, memory, (long) first * bytes, bytes);
    MemorySegment.copy(kept, 0, memory, ValueLayout.JAVA_BYTE, (long) second * bytes, bytes);
  }

  private static void rotate(MemorySegment memory, int bytes) {
    byte[] data = memory.toArray(ValueLayout.JAVA_BYTE);
    int rest = data.length - bytes;
    MemorySegment.copy(data, 0, memory, ValueLayout.JAVA_BYTE, bytes, rest);
    MemorySegment.copy(data, rest, memory, ValueLayout.JAVA_BYTE, 0, bytes);
  }

  private static int collisions(long[] values, long mask) {
    long[] sorted = Arrays.stream(values).map(value -> value & mask).sorted().toArray();
    int collisions = 0;
    for (int i = 1; i < sorted.length; i++) {
      if (sorted[i] == sorted[i - 1]) {
        collisions++;
      }
    }
    return collisions;
  }
}
