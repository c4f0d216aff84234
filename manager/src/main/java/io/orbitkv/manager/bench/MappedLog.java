package io.orbitkv.manager.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/**
 * The floor of a journal: records of one size, each its bytes and their CRC32C, copied into a
 * mapped file whose pages are there already. It begins again at the front when it is full.
 */
final class MappedLog {
  private static final int BYTES = 64 << 20;

  private final MappedByteBuffer file;
  private final ByteBuffer record;
  private final CRC32C crc = new CRC32C();
  private final int recordBytes;
  private int at;

  /**
   * @param recordBytes bytes of a record and its sum
   */
  MappedLog(Path path, int recordBytes) throws IOException {
    this.recordBytes = recordBytes;
    this.record = ByteBuffer.allocateDirect(recordBytes - Integer.BYTES);
    try (FileChannel channel =
        FileChannel.open(
            path,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      ByteBuffer zeros = ByteBuffer.allocateDirect(1 << 20);
      for (int done = 0; done < BYTES; done += zeros.capacity()) {
        zeros.clear();
        while (zeros.hasRemaining()) {
          channel.write(zeros, done + zeros.position());
        }
      }
      file = channel.map(MapMode.READ_WRITE, 0, BYTES);
    }
    file.order(ByteOrder.LITTLE_ENDIAN);
  }

  /** How many records it holds before it begins again. */
  int capacity() {
    return BYTES / recordBytes;
  }

  void append() {
    if (at + recordBytes > BYTES) {
      at = 0;
    }
    record.clear();
    file.put(at, record, 0, record.capacity());
    crc.reset();
    crc.update(record);
    file.putInt(at + record.capacity(), (int) crc.getValue());
    at += recordBytes;
  }

  /**
   * Reads the first records and compares their sums.
   *
   * @return how many were equal
   */
  int scan(int records) {
    int equal = 0;
    ByteBuffer view = file.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < records; i++) {
      int from = i * recordBytes;
      view.limit(from + recordBytes - Integer.BYTES).position(from);
      crc.reset();
      crc.update(view);
      equal += file.getInt(from + recordBytes - Integer.BYTES) == (int) crc.getValue() ? 1 : 0;
    }
    return equal;
  }
}
