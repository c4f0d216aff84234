package io.orbitkv.journal;

import java.io.Closeable;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * Reads one part's file with plain reads: it maps nothing, locks nothing and writes nothing, so a
 * file that is truncated, damaged, still being written or on a read-only disk is only ever a wrong
 * value, never a fault.
 *
 * <p>The file is Chronicle Queue's, a row of documents, each at a multiple of four bytes:
 *
 * <pre>
 * +----------------------+---------------------+---------+
 * | header u32           | content             | padding |
 * | 0 length             |  a record           |  0-3 B  |
 * | 1&lt;&lt;30 | length       |  Chronicle's own    |         |
 * | 0                    |  nothing written yet, or a record whose append did not end
 * +----------------------+---------------------+---------+
 * </pre>
 *
 * Chronicle stores a header only after the content, so a record that was being appended when the
 * process died lies behind a header of 0. What comes after the last document is zeros, reserved for
 * later records.
 */
final class PartReader implements Closeable {
  /** What {@link #next} found. */
  enum Step {
    RECORD,
    END,
    DAMAGED
  }

  private static final int META = 1 << 30;
  private static final int LENGTH_MASK = META - 1;
  private static final int WINDOW_BYTES = 1 << 18;

  /** How much is read to see whether something was appended. */
  private static final int POLL_BYTES = 4096;

  private static final byte[] ZEROS = new byte[WINDOW_BYTES];

  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final FileChannel channel;
  private final RecordView view = new RecordView();

  private byte[] window = new byte[WINDOW_BYTES];
  private long windowStart;
  private int windowBytes;

  /** File offset of the header that is looked at next. */
  private long at;

  private long recordAt;
  private long records;
  private String damage = "";

  private PartReader(FileChannel channel) {
    this.channel = channel;
  }

  static PartReader open(Path part) throws IOException {
    return new PartReader(FileChannel.open(Layout.facts(part), StandardOpenOption.READ));
  }

  /**
   * Goes to the next record. At the end it may be called again, to see what was appended meanwhile.
   */
  Step next() throws IOException {
    for (; ; ) {
      if (!load(at, 4)) {
        return Step.END;
      }
      int header = (int) INTS.get(window, index(at));
      if (header == 0) {
        // The window may have been read before the record was appended.
        if (!fill(at, 4, POLL_BYTES) || (header = (int) INTS.get(window, index(at))) == 0) {
          return Step.END;
        }
      }
      int length = header & LENGTH_MASK;
      if (header < 0 || length > RecordFormat.MAX_RECORD_BYTES || length == 0) {
        return damaged("document header %08x".formatted(header));
      }
      if (!load(at, 4 + length)) {
        return damaged("a document of " + length + " bytes reaches beyond the end of the file");
      }
      if ((header & META) != 0) {
        at = align(at + 4 + length);
        continue;
      }
      String reason = view.damage(window, index(at + 4), length);
      if (reason != null) {
        // Read once more: content that was appended during the first read may have been torn by it.
        if (!reload(at, 4 + length) || view.damage(window, index(at + 4), length) != null) {
          return damaged(reason);
        }
      }
      recordAt = at;
      records++;
      at = align(at + 4 + length);
      return Step.RECORD;
    }
  }

  /** The record that {@link #next} found; valid until the next call. */
  RecordView record() {
    return view;
  }

  /** Where the record begins in the file. */
  long recordAt() {
    return recordAt;
  }

  /**
   * The record's Chronicle index inside the part; after damage, the number of records that were
   * read.
   */
  long recordIndex() {
    return records - 1;
  }

  /** Where the next document is expected, or where the damage is. */
  long offset() {
    return at;
  }

  String damage() {
    return damage;
  }

  /**
   * Looks behind {@link #offset} for the next whole record whose position is at least {@code
   * position}, at any multiple of four bytes, and makes it what {@link #next} reads next.
   *
   * @return false when there is none; {@link #offset} stays
   */
  boolean resynchronize(long position) throws IOException {
    for (long candidate = align(at) + 4; load(candidate, 8); candidate += 4) {
      int i = index(candidate);
      if ((long) LONGS.get(window, i) == 0) {
        candidate += (zeros(i) & ~3) - 4; // The loop adds the 4 again.
        continue;
      }
      int header = (int) INTS.get(window, i);
      if (header < RecordFormat.OVERHEAD_BYTES || header > RecordFormat.MAX_RECORD_BYTES) {
        continue;
      }
      if (!load(candidate, 4 + RecordFormat.OVERHEAD_BYTES)) {
        return false;
      }
      i = index(candidate);
      int payload = (int) INTS.get(window, i + 4 + RecordFormat.LENGTH_AT);
      if (payload == header - RecordFormat.OVERHEAD_BYTES
          && load(candidate, 4 + header)
          && view.damage(window, index(candidate + 4), header) == null
          && (view.position() >= position || view.type() == FactType.PART_OPENED)) {
        at = candidate;
        return true;
      }
    }
    return false;
  }

  /** Whether a document was appended since {@link #next} found the end. */
  boolean appended() throws IOException {
    return fill(at, 4, POLL_BYTES) && (int) INTS.get(window, 0) != 0;
  }

  /** Like {@link #appended}, for an end that was found earlier; goes back to it when so. */
  boolean appendedAt(long offset) throws IOException {
    if (fill(offset, 4, POLL_BYTES) && (int) INTS.get(window, 0) != 0) {
      at = offset;
      return true;
    }
    return false;
  }

  /** How many bytes from {@link #offset} to the last byte of the file that is not zero. */
  long bytesBehind() throws IOException {
    long last = at;
    for (long from = at; load(from, 1); ) {
      int i = index(from);
      int available = Math.min(windowBytes - i, ZEROS.length);
      if (zeros(i) < available) {
        int k = available - 1;
        while (window[i + k] == 0) {
          k--;
        }
        last = from + k + 1;
      }
      from += available;
    }
    return last - at;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }

  private Step damaged(String reason) {
    damage = reason;
    return Step.DAMAGED;
  }

  /**
   * How many zeros follow an index of the window, as far as {@link #ZEROS} reaches. A part is
   * reserved whole, so that most of what is looked through behind an end is zeros.
   */
  private int zeros(int from) {
    int most = Math.min(windowBytes - from, ZEROS.length);
    int count = Arrays.mismatch(window, from, from + most, ZEROS, 0, most);
    return count < 0 ? most : count;
  }

  private int index(long offset) {
    return (int) (offset - windowStart);
  }

  /**
   * Makes sure that {@code length} bytes from {@code offset} are in the window; false when the file
   * ends before.
   */
  private boolean load(long offset, int length) throws IOException {
    return (offset >= windowStart && offset + length <= windowStart + windowBytes)
        || reload(offset, length);
  }

  private boolean reload(long offset, int length) throws IOException {
    if (window.length < length) {
      window = new byte[Integer.highestOneBit(length) << 1];
    }
    return fill(offset, length, window.length);
  }

  private boolean fill(long offset, int length, int most) throws IOException {
    windowStart = offset;
    windowBytes = 0;
    ByteBuffer target = ByteBuffer.wrap(window, 0, most);
    while (target.hasRemaining()) {
      int read = channel.read(target, offset + windowBytes);
      if (read < 0) {
        break;
      }
      windowBytes += read;
    }
    return windowBytes >= length;
  }

  private static long align(long offset) {
    return offset + 3 & ~3L;
  }
}
