package io.orbitkv.core.pool;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * The first page of a file that holds a pool. It says which pool it is and who used it last; what
 * lies in it is in the journal alone, which names the pool by its id.
 *
 * <pre>
 *   little-endian, 4096 bytes, zero after 64
 *   0   magic        "OKVPOOL" and a zero
 *   8   version      u32, 1
 *   12  zero         u32
 *   16  pool id      u64 high, u64 low
 *   32  pool bytes   u64, what extents may lie in
 *   40  pool offset  u64, where in the file they begin
 *   48  epoch        u64, of the run that opened it last
 *   56  zero         u32
 *   60  checksum     u32, CRC32C of the 60 bytes before
 * </pre>
 */
record PoolHeader(UUID poolId, long poolBytes, long poolOffset, long epoch) {
  static final int BYTES = 4096;

  private static final long MAGIC = 0x004C_4F4F_5056_4B4FL;
  private static final int VERSION = 1;
  private static final int CHECKED_BYTES = 60;

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** What a first page turned out to be. */
  sealed interface Page {
    /** A header of this version. */
    record Valid(PoolHeader header) implements Page {}

    /** A header of ours that is damaged or of another version. */
    record Unusable(String why) implements Page {}

    /** Something else. */
    record Foreign() implements Page {}
  }

  static Page read(MemorySegment page) {
    if (page.get(LONG, 0) != MAGIC) {
      return new Page.Foreign();
    }
    if (page.get(INT, CHECKED_BYTES) != checksum(page)) {
      return new Page.Unusable("its header is damaged");
    }
    if (page.get(INT, 8) != VERSION) {
      return new Page.Unusable("its format is version " + page.get(INT, 8) + ", not " + VERSION);
    }
    return new Page.Valid(
        new PoolHeader(
            new UUID(page.get(LONG, 16), page.get(LONG, 24)),
            page.get(LONG, 32),
            page.get(LONG, 40),
            page.get(LONG, 48)));
  }

  void write(MemorySegment page) {
    page.asSlice(8, BYTES - 8).fill((byte) 0);
    page.set(LONG, 0, MAGIC);
    page.set(INT, 8, VERSION);
    page.set(LONG, 16, poolId.getMostSignificantBits());
    page.set(LONG, 24, poolId.getLeastSignificantBits());
    page.set(LONG, 32, poolBytes);
    page.set(LONG, 40, poolOffset);
    page.set(LONG, 48, epoch);
    page.set(INT, CHECKED_BYTES, checksum(page));
  }

  private static int checksum(MemorySegment page) {
    CRC32C crc = new CRC32C();
    crc.update(page.asSlice(0, CHECKED_BYTES).toArray(ValueLayout.JAVA_BYTE));
    return (int) crc.getValue();
  }
}
