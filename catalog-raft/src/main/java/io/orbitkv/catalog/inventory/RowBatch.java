package io.orbitkv.catalog.inventory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Rows as they travel, {@value #ROW_BYTES} bytes each, big-endian:
 *
 * <pre>
 *   0         8         16           24         28         32     33
 *   | fp high | fp low  | generation | KiB      | + pos    | kind |
 * </pre>
 *
 * <p>{@code KiB} is the length in KiB, rounded up. {@code + pos} is the row's journal position less
 * the position after which its frame begins, 0 in snapshots. {@code kind} is the tier's code, plus
 * 0x80 for a removal.
 */
public final class RowBatch {
  /** Bytes of one row. */
  public static final int ROW_BYTES = 33;

  /**
   * Frames are closed with so many rows, 63 KiB; only rows of one position stay together beyond.
   */
  public static final int MAX_ROWS = 1950;

  /** The most rows that are taken from another host: 2.1 MB. */
  public static final int MAX_PARSED_ROWS = 65_536;

  /** No rows. */
  public static final RowBatch EMPTY = new RowBatch(new byte[0]);

  private static final int REMOVAL = 0x80;
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  private final byte[] bytes;

  private RowBatch(byte[] bytes) {
    this.bytes = bytes;
  }

  /**
   * Takes bytes of another host, which are not copied.
   *
   * @return the rows, or nothing when these are not whole rows of known kinds in order of position
   */
  public static Optional<RowBatch> parse(byte[] bytes) {
    if (bytes.length % ROW_BYTES != 0 || bytes.length > MAX_PARSED_ROWS * ROW_BYTES) {
      return Optional.empty();
    }
    RowBatch batch = new RowBatch(bytes);
    long before = 0;
    for (int i = 0; i < batch.size(); i++) {
      int tier = batch.kind(i) & ~REMOVAL;
      long offset = batch.offset(i);
      if (tier >= Tier.values().length || offset < before || batch.lengthKib(i) < 0) {
        return Optional.empty();
      }
      before = offset;
    }
    return Optional.of(batch);
  }

  /** The rows' bytes, which must not be changed. */
  public byte[] bytes() {
    return bytes;
  }

  /** How many rows. */
  public int size() {
    return bytes.length / ROW_BYTES;
  }

  /** First half of row {@code i}'s fingerprint. */
  public long high(int i) {
    return (long) LONG.get(bytes, i * ROW_BYTES);
  }

  /** Second half of row {@code i}'s fingerprint. */
  public long low(int i) {
    return (long) LONG.get(bytes, i * ROW_BYTES + 8);
  }

  /** Generation of row {@code i}. */
  public long generation(int i) {
    return (long) LONG.get(bytes, i * ROW_BYTES + 16);
  }

  /** Length of row {@code i} in KiB. */
  public int lengthKib(int i) {
    return (int) INT.get(bytes, i * ROW_BYTES + 24);
  }

  /** Position of row {@code i} behind the position after which its frame begins. */
  public long offset(int i) {
    return Integer.toUnsignedLong((int) INT.get(bytes, i * ROW_BYTES + 28));
  }

  /** Whether row {@code i} says that the block is gone. */
  public boolean isRemoval(int i) {
    return (kind(i) & REMOVAL) != 0;
  }

  /** Code of row {@code i}'s tier. */
  public int tier(int i) {
    return kind(i) & ~REMOVAL;
  }

  private int kind(int i) {
    return bytes[i * ROW_BYTES + 32] & 0xFF;
  }

  /** The length in KiB of so many bytes, rounded up; the longest that fits is 2 TiB. */
  public static int kib(long lengthBytes) {
    return (int) Math.min(Integer.MAX_VALUE, (lengthBytes + 1023) >>> 10);
  }

  @Override
  public boolean equals(@Nullable Object object) {
    return object instanceof RowBatch other && Arrays.equals(bytes, other.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return size() + " rows";
  }

  /** Gathers rows. */
  public static final class Builder {
    private byte[] bytes;
    private int rows;

    /** A builder with room for so many rows, which grows when it has to. */
    public Builder(int rows) {
      bytes = new byte[Math.max(1, rows) * ROW_BYTES];
    }

    /** Adds one row. */
    public void add(
        long high,
        long low,
        long generation,
        int lengthKib,
        long offset,
        int tier,
        boolean removal) {
      int at = rows * ROW_BYTES;
      if (at == bytes.length) {
        bytes = Arrays.copyOf(bytes, bytes.length * 2);
      }
      LONG.set(bytes, at, high);
      LONG.set(bytes, at + 8, low);
      LONG.set(bytes, at + 16, generation);
      INT.set(bytes, at + 24, lengthKib);
      INT.set(bytes, at + 28, (int) offset);
      bytes[at + 32] = (byte) (removal ? tier | REMOVAL : tier);
      rows++;
    }

    /** How many rows were added. */
    public int size() {
      return rows;
    }

    /** The rows so far. */
    public RowBatch build() {
      return rows == 0 ? EMPTY : new RowBatch(Arrays.copyOf(bytes, rows * ROW_BYTES));
    }
  }
}
