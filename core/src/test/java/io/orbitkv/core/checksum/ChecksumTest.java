package io.orbitkv.core.checksum;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.orbitkv.ffi.MachineCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The checksum against its documented vectors and against the formula, word by word. */
class ChecksumTest {
  private static final String SEED_PROPERTY = "orbitkv.checksum.seed";

  @ParameterizedTest
  @CsvSource({
    "pattern, 0,       0000000000000000, 55bd85356cfb3a2a",
    "pattern, 1,       fbfe6fc14d58ffcb, 23577284b9055fc5",
    "pattern, 7,       687d2569a6309004, 6ed2bbfa75cc48d7",
    "pattern, 8,       8b8664c243309004, ff9579bf44d34a06",
    "pattern, 9,       c5ac2281489a60cc, 47adb1d9a11822f9",
    "pattern, 4095,    734439a3e8ed1f81, 26c10ca833e6e4ce",
    "pattern, 4096,    61c510b584ed1f81, fd2d75fbfdc796b9",
    "pattern, 4097,    fbf79136f886b471, 197c119a9e303b91",
    "pattern, 10000,   7f084e1ca9c721aa, d272832e303b2b89",
    "pattern, 65536,   058c4a94dbcdaa39, afc4c5bcf7fd6386",
    "pattern, 1048576, 69e41c24fe3bb555, 41f6d9c84cf64e80",
    "zeros,   8,       fbfe6fc14d58ffcb, 7caffdbf1b31a549",
    "zeros,   4096,    5f8021e1ccdbd3ca, 8003479b3f6b8403",
    "zeros,   65536,   9dbb1347abe62d56, 627826f1768a6173",
    "ones,    8,       8ad07623e2d54a93, 7105a2ad1a5497bd",
    "ones,    4096,    7906038ad7bb29a3, a843dc7d4095b9c3"
  })
  void shouldGiveTheDocumentedValues(String content, int bytes, String sum, String value) {
    byte[] data = content(content, bytes);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = copyOf(arena, data);
      long actual = Checksum.sum(memory, 0, bytes, 0);
      assertEquals(Long.parseUnsignedLong(sum, 16), actual, "sum");
      assertEquals(
          Long.parseUnsignedLong(value, 16), Checksum.finish(actual, bytes), "finished value");
      assertEquals(ReferenceChecksum.value(data), Checksum.finish(actual, bytes), "reference");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "8,             790c6e0efc40bd44",
    "4088,          a2575d37065da05d",
    "4096,          a6537248511f68a8",
    "1099511627776, 1c17886f818fa3fa"
  })
  void shouldGiveTheDocumentedSumsAtOtherPositions(long basePosition, String sum) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = copyOf(arena, content("pattern", 10_000));
      assertEquals(Long.parseUnsignedLong(sum, 16), Checksum.sum(memory, 0, 10_000, basePosition));
    }
  }

  @Test
  void shouldEqualTheFormulaForAnySizeAlignmentAndPosition() {
    long seed = Long.getLong(SEED_PROPERTY, 20_261);
    SplittableRandom random = new SplittableRandom(seed);
    byte[] data = new byte[40_000];
    random.nextBytes(data);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment source = copyOf(arena, data);
      MemorySegment target = arena.allocate(data.length + 64);
      for (int round = 0; round < 2_000; round++) {
        int bytes = random.nextInt(random.nextBoolean() ? 64 : 20_000);
        int offset = random.nextInt(data.length - bytes);
        int targetOffset = random.nextInt(data.length - bytes);
        long base = 8L * random.nextLong(random.nextBoolean() ? 2_000 : 1L << 40);
        String message = repeat(seed, "round " + round);
        long expected = ReferenceChecksum.partialSum(data, offset, bytes, base);
        assertEquals(expected, Checksum.sum(source, offset, bytes, base), message);

        target.fill((byte) 0x5A);
        assertEquals(
            expected,
            Checksum.copyAndSum(source, offset, target, targetOffset, bytes, base),
            message);
        assertCopied(source, offset, target, targetOffset, bytes, message);
        target.fill((byte) 0x5A);
        assertEquals(
            expected,
            Checksum.streamAndSum(source, offset, target, targetOffset, bytes, base),
            message);
        Checksum.fence();
        assertCopied(source, offset, target, targetOffset, bytes, message);
      }
    }
  }

  @Test
  void shouldStreamWhatTheKernelIsMadeForAsTheFormulaSays() {
    long seed = Long.getLong(SEED_PROPERTY, 20_263);
    SplittableRandom random = new SplittableRandom(seed);
    byte[] data = new byte[100_000];
    random.nextBytes(data);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment source = copyOf(arena, data);
      MemorySegment target = arena.allocate(data.length + 64, 64);
      for (int round = 0; round < 500; round++) {
        int bytes = 4_096 + random.nextInt(data.length - 4_096);
        int offset = random.nextInt(data.length - bytes + 1);
        int targetOffset = random.nextInt(data.length - bytes + 1) & -32;
        long base = 64L * random.nextLong(random.nextBoolean() ? 2_000 : 1L << 40);
        String message = repeat(seed, "round " + round);
        target.fill((byte) 0x5A);
        assertEquals(
            ReferenceChecksum.partialSum(data, offset, bytes, base),
            Checksum.streamAndSum(source, offset, target, targetOffset, bytes, base),
            message);
        Checksum.fence();
        assertCopied(source, offset, target, targetOffset, bytes, message);
      }
    }
  }

  @Test
  void shouldStreamAroundTheCachesOnProcessorsThatCan() {
    assertEquals(MachineCode.x86Offers("avx2"), Checksum.streaming().startsWith("AVX2"));
  }

  @Test
  void shouldAddUpOverAnyPartitionInAnyOrder() {
    long seed = Long.getLong(SEED_PROPERTY, 20_262);
    SplittableRandom random = new SplittableRandom(seed);
    byte[] data = new byte[50_003];
    random.nextBytes(data);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = copyOf(arena, data);
      long whole = Checksum.sum(memory, 0, data.length, 0);
      for (int round = 0; round < 200; round++) {
        long parts = 0;
        int end = data.length;
        while (end > 0) {
          int start = Math.max(0, (end - 1 - random.nextInt(12_000)) & ~7);
          parts += Checksum.sum(memory, start, end - start, start);
          end = start;
        }
        assertEquals(whole, parts, repeat(seed, "round " + round));
      }
    }
  }

  @Test
  void shouldRefuseWhatIsNotASegmentOfAnExtent() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(4096);
      MemorySegment heap = MemorySegment.ofArray(new long[512]);
      assertThrows(IllegalArgumentException.class, () -> Checksum.sum(memory, 0, 8, 4));
      assertThrows(IllegalArgumentException.class, () -> Checksum.sum(memory, 0, 8, -8));
      assertThrows(
          IllegalArgumentException.class,
          () -> Checksum.sum(memory, 0, 4096, Long.MAX_VALUE & ~7L));
      assertThrows(IllegalArgumentException.class, () -> Checksum.sum(heap, 0, 8, 0));
      assertThrows(
          IllegalArgumentException.class, () -> Checksum.copyAndSum(memory, 0, heap, 0, 8, 0));
      assertThrows(IndexOutOfBoundsException.class, () -> Checksum.sum(memory, 4090, 8, 0));
      assertThrows(IndexOutOfBoundsException.class, () -> Checksum.sum(memory, -1, 8, 0));
      assertThrows(IndexOutOfBoundsException.class, () -> Checksum.sum(memory, 0, -1, 0));
    }
  }

  @Test
  void shouldStreamNothingOutsideTheRanges() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment source = arena.allocate(8_192, 64);
      MemorySegment target = arena.allocate(8_192, 64);
      assertThrows(
          IndexOutOfBoundsException.class,
          () -> Checksum.streamAndSum(source, 0, target, 64, 8_192, 0));
      assertThrows(
          IndexOutOfBoundsException.class,
          () -> Checksum.streamAndSum(source, 64, target, 0, 8_192, 0));
      assertThrows(
          IllegalArgumentException.class,
          () -> Checksum.streamAndSum(source, 0, target.asReadOnly(), 0, 8_192, 0));
      assertArrayEquals(new byte[8_192], target.toArray(ValueLayout.JAVA_BYTE));
    }
  }

  @Test
  void shouldCopyNothingWhenTheTargetIsTooSmall() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment source = copyOf(arena, content("ones", 4096));
      MemorySegment target = arena.allocate(4095);
      assertThrows(
          IndexOutOfBoundsException.class,
          () -> Checksum.copyAndSum(source, 0, target, 0, 4096, 0));
      assertArrayEquals(new byte[4095], target.toArray(ValueLayout.JAVA_BYTE));
    }
  }

  @Test
  void shouldRefuseMemoryOfAClosedArena() {
    MemorySegment memory;
    try (Arena arena = Arena.ofShared()) {
      memory = arena.allocate(4096);
    }
    assertThrows(IllegalStateException.class, () -> Checksum.sum(memory, 0, 4096, 0));
  }

  private static byte[] content(String name, int bytes) {
    byte[] data = new byte[bytes];
    for (int i = 0; i < bytes; i++) {
      data[i] =
          switch (name) {
            case "zeros" -> 0;
            case "ones" -> (byte) 0xFF;
            case "pattern" -> (byte) (i * 167 + (i >> 8) * 13);
            default -> throw new IllegalArgumentException(name);
          };
    }
    return data;
  }

  private static MemorySegment copyOf(Arena arena, byte[] data) {
    MemorySegment memory = arena.allocate(Math.max(1, data.length));
    MemorySegment.copy(data, 0, memory, ValueLayout.JAVA_BYTE, 0, data.length);
    return memory;
  }

  /** The bytes are those of the source, in a target that held 0x5A, and nothing else changed. */
  private static void assertCopied(
      MemorySegment source,
      int offset,
      MemorySegment target,
      int targetOffset,
      int bytes,
      String message) {
    assertEquals(
        -1, source.asSlice(offset, bytes).mismatch(target.asSlice(targetOffset, bytes)), message);
    assertUntouched(target, 0, targetOffset, message);
    assertUntouched(target, targetOffset + bytes, target.byteSize(), message);
  }

  private static void assertUntouched(MemorySegment memory, long from, long to, String message) {
    for (long at = from; at < to; at++) {
      if (memory.get(ValueLayout.JAVA_BYTE, at) != 0x5A) {
        throw new AssertionError(message + ": byte " + at + " was written");
      }
    }
  }

  private static String repeat(long seed, String what) {
    return what + "; repeat with -D" + SEED_PROPERTY + "=" + seed + " -Dtest=ChecksumTest";
  }
}
