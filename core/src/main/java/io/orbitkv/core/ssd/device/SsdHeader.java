package io.orbitkv.core.ssd.device;

import io.orbitkv.core.file.FirstPage;
import java.lang.foreign.MemorySegment;
import java.util.UUID;

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
  static final int BYTES = FirstPage.BYTES;

  private static final FirstPage.Kind KIND = new FirstPage.Kind(0x0000_4453_5356_4B4FL, 1, 56);

  static FirstPage<SsdHeader> read(MemorySegment page) {
    return KIND.read(
        page,
        valid ->
            new SsdHeader(
                new UUID(valid.get(FirstPage.LONG, 24), valid.get(FirstPage.LONG, 32)),
                valid.get(FirstPage.INT, 12),
                valid.get(FirstPage.INT, 16),
                valid.get(FirstPage.LONG, 40)));
  }

  void write(MemorySegment page) {
    KIND.begin(page);
    page.set(FirstPage.INT, 12, file);
    page.set(FirstPage.INT, 16, files);
    page.set(FirstPage.LONG, 24, tierId.getMostSignificantBits());
    page.set(FirstPage.LONG, 32, tierId.getLeastSignificantBits());
    page.set(FirstPage.LONG, 40, bytes);
    KIND.seal(page);
  }
}
