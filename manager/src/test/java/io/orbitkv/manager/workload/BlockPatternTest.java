package io.orbitkv.manager.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BlockPatternTest {
  private static final int BYTES = 1024;

  private final BlockPattern pattern = new BlockPattern(BYTES);

  @Test
  void shouldSeeEveryChangedByte() {
    byte[] bytes = new byte[BYTES];
    MemorySegment page = MemorySegment.ofArray(bytes);
    pattern.select(42);
    pattern.write(0, page);
    assertEquals(-1, pattern.mismatch(0, page));
    for (int i = 0; i < BYTES; i++) {
      bytes[i] ^= 1;
      assertEquals(i, pattern.mismatch(0, page));
      bytes[i] ^= 1;
    }
  }

  @Test
  void shouldTellBlocksAndPlacesApart() {
    MemorySegment page = MemorySegment.ofArray(new byte[BYTES]);
    pattern.select(1);
    pattern.write(0, page);
    for (long block = 2; block < 2_000; block++) {
      pattern.select(block);
      for (int word = 0; word < BYTES; word += 8) {
        assertTrue(pattern.mismatch(word, page.asSlice(word, 8)) >= 0);
      }
    }
    pattern.select(1);
    for (int from = 0; from < BYTES; from += 64) {
      for (int to = 0; to < BYTES; to += 64) {
        assertEquals(from == to, pattern.mismatch(from, page.asSlice(to, 64)) < 0);
      }
    }
  }

  @Test
  void shouldGiveEveryBlockItsOwnKey() {
    Set<String> keys = new HashSet<>();
    byte[] key = new byte[BlockPattern.KEY_BYTES];
    for (long block = -1_000; block < 10_000; block++) {
      BlockPattern.key(0, block, key, 0);
      assertTrue(keys.add(HexFormat.of().formatHex(key)));
    }
  }
}
