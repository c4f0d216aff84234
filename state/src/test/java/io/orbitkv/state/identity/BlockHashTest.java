package io.orbitkv.state.identity;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.SeededTries;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class BlockHashTest {

  @Test
  void shouldKeepAnyBytesOfAnyLegalLength() {
    SeededTries.run(
        1_000,
        random -> {
          byte[] bytes = SeededTries.bytes(random, 1, 64);
          int offset = random.nextInt(10);
          byte[] framed = new byte[offset + bytes.length + 3];
          Arrays.fill(framed, (byte) 0x5A);
          System.arraycopy(bytes, 0, framed, offset, bytes.length);

          BlockHash hash = BlockHash.of(framed, offset, bytes.length).orElseThrow();

          assertArrayEquals(bytes, hash.toBytes());
          assertEquals(bytes.length, hash.length());
          assertEquals(hash, BlockHash.of(bytes).orElseThrow());
          assertEquals(hash.hashCode(), BlockHash.read(bytes, 0, bytes.length).hashCode());
          assertEquals(hash, BlockHash.ofHex(hash.toHex()).orElseThrow());
        });
  }

  @Test
  void shouldOrderAndCompareLikeUnsignedBytes() {
    SeededTries.run(
        1_000,
        random -> {
          byte[] a = SeededTries.bytes(random, 1, 64);
          byte[] b =
              random.nextInt(4) == 0
                  ? Arrays.copyOf(a, 1 + random.nextInt(64))
                  : SeededTries.bytes(random, 1, 64);
          BlockHash left = BlockHash.of(a).orElseThrow();
          BlockHash right = BlockHash.of(b).orElseThrow();
          assertEquals(
              Integer.signum(Arrays.compareUnsigned(a, b)), Integer.signum(left.compareTo(right)));
          assertEquals(Arrays.equals(a, b), left.equals(right));
        });
  }

  @Test
  void shouldDifferWhenOneByteOrTheLengthDiffers() {
    SeededTries.run(
        1_000,
        random -> {
          byte[] bytes = SeededTries.bytes(random, 1, 63);
          int at = random.nextInt(63);
          BlockHash hash = BlockHash.of(bytes).orElseThrow();
          byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
          assertNotEquals(hash, BlockHash.of(longer).orElseThrow());
          assertTrue(hash.compareTo(BlockHash.of(longer).orElseThrow()) < 0);
          byte[] changed = bytes.clone();
          changed[at % bytes.length] ^= 0x10;
          assertNotEquals(hash, BlockHash.of(changed).orElseThrow());
        });
  }

  @Test
  void shouldRefuseLengthsOutsideOneTo64() {
    for (int length : new int[] {0, 65, 1000}) {
      InvalidField problem = BlockHash.of(new byte[length]).refusal().orElseThrow();
      assertEquals("hash.length", problem.field());
      assertEquals(Integer.toString(length), problem.value());
      assertThrows(
          IllegalArgumentException.class, () -> BlockHash.read(new byte[length], 0, length));
    }
    assertTrue(BlockHash.of(new byte[8], 0, -1).refusal().isPresent());
  }

  @Test
  void shouldStayInsideItsSource() {
    byte[] source = new byte[16];
    assertThrows(IndexOutOfBoundsException.class, () -> BlockHash.read(source, 1, 16));
    assertThrows(IndexOutOfBoundsException.class, () -> BlockHash.read(source, -1, 8));
    assertThrows(
        IndexOutOfBoundsException.class, () -> BlockHash.read(source, Integer.MAX_VALUE, 8));
    BlockHash hash = BlockHash.read(source, 0, 16);
    assertThrows(IndexOutOfBoundsException.class, () -> hash.copyTo(new byte[20], 5));
  }

  @Test
  void shouldRefuseTextThatIsNotHexadecimal() {
    assertEquals("hash", BlockHash.ofHex("abc").refusal().orElseThrow().field());
    assertEquals("hash", BlockHash.ofHex("zz").refusal().orElseThrow().field());
    assertEquals("hash.length", BlockHash.ofHex("").refusal().orElseThrow().field());
    assertEquals("00ff", BlockHash.ofHex("00FF").orElseThrow().toString());
  }
}
