package io.orbitkv.journal;

import io.orbitkv.state.Fact;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Looks at one record in an array: first whether it is whole, then what it says. Reused from record
 * to record.
 */
final class RecordView {
  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final CRC32C crc = new CRC32C();
  private byte[] bytes = new byte[0];
  private int from;
  private int length;

  /**
   * Why {@code bytes[from, from+length)} is no whole record; null when it is one, and then the view
   * shows it.
   */
  @Nullable String damage(byte[] bytes, int from, int length) {
    if (length < RecordFormat.OVERHEAD_BYTES) {
      return "a document of " + length + " bytes is too short for a record";
    }
    int payload = (int) INTS.get(bytes, from + RecordFormat.LENGTH_AT);
    if (payload != length - RecordFormat.OVERHEAD_BYTES) {
      return "a document of " + length + " bytes says that its payload has " + payload;
    }
    int end = from + length - RecordFormat.CRC_BYTES;
    crc.reset();
    crc.update(bytes, from, end - from);
    int expected = (int) INTS.get(bytes, end);
    if ((int) crc.getValue() != expected) {
      return "checksum is %08x instead of %08x".formatted((int) crc.getValue(), expected);
    }
    this.bytes = bytes;
    this.from = from;
    this.length = length;
    return null;
  }

  int type() {
    return Short.toUnsignedInt((short) SHORTS.get(bytes, from + RecordFormat.TYPE_AT));
  }

  long position() {
    return (long) LONGS.get(bytes, from + RecordFormat.POSITION_AT);
  }

  long atMicros() {
    return (long) LONGS.get(bytes, from + RecordFormat.TIME_AT);
  }

  /**
   * @throws UnreadableRecord when a newer format wrote it
   */
  Fact fact() {
    return new Fact(position(), atMicros(), EventDecoder.decode(type(), atMicros(), payload()));
  }

  /**
   * @throws UnreadableRecord when a newer format wrote it
   */
  PartOpened partOpened() {
    return PartOpened.decode(payload());
  }

  private WireReader payload() {
    int version = bytes[from + RecordFormat.FORMAT_AT];
    int flags = bytes[from + RecordFormat.FLAGS_AT];
    if (version != RecordFormat.VERSION || flags != 0) {
      throw new UnreadableRecord(
          "record format %d with flags %d; this version reads format %d with flags 0: use a newer orbitkv"
              .formatted(version, flags, RecordFormat.VERSION));
    }
    return new WireReader(
        bytes, from + RecordFormat.PAYLOAD_AT, from + length - RecordFormat.CRC_BYTES);
  }
}
