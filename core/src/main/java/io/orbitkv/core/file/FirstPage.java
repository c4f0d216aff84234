package io.orbitkv.core.file;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.function.Function;
import java.util.zip.CRC32C;

/**
 * What the first page of a file turned out to be. Every file of ours begins alike; what lies
 * between is drawn on the class of its header.
 *
 * <pre>
 *   little-endian
 *   0   magic      u64, says whose file it is
 *   8   version    u32
 *   12  fields     of the header, zeros elsewhere
 *   n   checksum   u32, CRC32C of the n bytes before
 * </pre>
 *
 * @param <H> the header
 */
public sealed interface FirstPage<H> {
  /** Its size; a file may go on behind it. */
  int BYTES = 4096;

  /** Of the numbers in it. */
  ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Of the numbers in it. */
  ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** A header of this version. */
  record Valid<H>(H header) implements FirstPage<H> {}

  /** A header of ours that is damaged or of another version. */
  record Unusable<H>(String why) implements FirstPage<H> {}

  /** Something else. */
  record Foreign<H>() implements FirstPage<H> {}

  /**
   * One kind of file.
   *
   * @param magic its first eight bytes
   * @param version the only one that is read
   * @param checkedBytes where the checksum lies
   */
  record Kind(long magic, int version, int checkedBytes) {
    /**
     * Reads a page.
     *
     * @param decode reads the fields of a page that is as it was written
     */
    public <H> FirstPage<H> read(MemorySegment page, Function<MemorySegment, H> decode) {
      if (page.get(LONG, 0) != magic) {
        return new Foreign<>();
      }
      if (page.get(INT, checkedBytes) != checksum(page)) {
        return new Unusable<>("its header is damaged");
      }
      int found = page.get(INT, 8);
      if (found != version) {
        return new Unusable<>("its format is version " + found + ", not " + version);
      }
      return new Valid<>(decode.apply(page));
    }

    /**
     * Begins a page; {@link #seal} ends it when the fields are written. What lies behind the page
     * is not touched.
     */
    public void begin(MemorySegment page) {
      page.asSlice(Long.BYTES, BYTES - Long.BYTES).fill((byte) 0);
      page.set(LONG, 0, magic);
      page.set(INT, 8, version);
    }

    /** Ends a page. */
    public void seal(MemorySegment page) {
      page.set(INT, checkedBytes, checksum(page));
    }

    private int checksum(MemorySegment page) {
      CRC32C crc = new CRC32C();
      crc.update(page.asSlice(0, checkedBytes).toArray(ValueLayout.JAVA_BYTE));
      return (int) crc.getValue();
    }
  }
}
