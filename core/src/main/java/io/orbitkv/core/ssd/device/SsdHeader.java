package io.orbitkv.core.ssd.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * The first page of a file of the SSD tier. It says to which tier the file belongs and as which
 * part; where what lies in it is in the journal alone, which names the tier by its id.
 *
 * <pre>
 *   little-endian, 4096 bytes, zero after 64
 *   0   magic       "OKVSSD" and two zeros
 *   8   version     u32, 1
 *   12  file        u32, this file's place in the tier's list of files
 *   16  files       u32, how many there are
 *   20  zero        u32
 *   24  tier id     u64 high, u64 low
 *   40  bytes       u64, the file's length, this page included
 *   48  zero        u64
 *   56  checksum    u32, CRC32C of the 56 bytes before
 * </pre>
 */
record SsdHeader(UUID tierId, int file, int files, long bytes) {
  static final int BYTES = SsdDevice.ALIGNMENT_BYTES;

  private static final long MAGIC = 0x0000_4453_5356_4B4FL;
  private static final int VERSION = 1;
  private static final int CHECKED_BYTES = 56;

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** What a first page turned out to be. */
  sealed interface Page {
    /** A header of this version. */
    record Valid(SsdHeader header) implements Page {}

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
        new SsdHeader(
            new UUID(page.get(LONG, 24), page.get(LONG, 32)),
            page.get(INT, 12),
            page.get(INT, 16),
            page.get(LONG, 40)));
  }

  void write(MemorySegment page) {
    page.fill((byte) 0);
    page.set(LONG, 0, MAGIC);
    page.set(INT, 8, VERSION);
    page.set(INT, 12, file);
    page.set(INT, 16, files);
    page.set(LONG, 24, tierId.getMostSignificantBits());
    page.set(LONG, 32, tierId.getLeastSignificantBits());
    page.set(LONG, 40, bytes);
    page.set(INT, CHECKED_BYTES, checksum(page));
  }

  private static int checksum(MemorySegment page) {
    CRC32C crc = new CRC32C();
    crc.update(page.asSlice(0, CHECKED_BYTES).toArray(ValueLayout.JAVA_BYTE));
    return (int) crc.getValue();
  }
}
