package io.orbitkv.journal;

import io.orbitkv.state.HostEvent;
import java.util.zip.CRC32C;

/** Makes records in one reused array. Belongs to one thread. */
final class RecordEncoder {
  private final WireWriter out = new WireWriter();
  private final CRC32C crc = new CRC32C();

  /** The array that holds the last record, from its first byte. */
  byte[] array() {
    return out.array();
  }

  /** Encodes a fact and returns the record's length in bytes. */
  int fact(long position, long atMicros, HostEvent event) {
    out.clear();
    out.skip(RecordFormat.PAYLOAD_AT);
    EventEncoder.encode(out, atMicros, event);
    return seal(FactType.of(event), position, atMicros);
  }

  /** Encodes a part's first record and returns its length in bytes. */
  int partOpened(PartOpened opened, long atMicros) {
    out.clear();
    out.skip(RecordFormat.PAYLOAD_AT);
    opened.encode(out);
    return seal(FactType.PART_OPENED, 0, atMicros);
  }

  private int seal(int type, long position, long atMicros) {
    int end = out.size();
    out.u8(RecordFormat.FORMAT_AT, RecordFormat.VERSION);
    out.u8(RecordFormat.FLAGS_AT, 0);
    out.u16(RecordFormat.TYPE_AT, type);
    out.u64(RecordFormat.POSITION_AT, position);
    out.u64(RecordFormat.TIME_AT, atMicros);
    out.u32(RecordFormat.LENGTH_AT, end - RecordFormat.PAYLOAD_AT);
    crc.reset();
    crc.update(out.array(), 0, end);
    out.skip(RecordFormat.CRC_BYTES);
    out.u32(end, (int) crc.getValue());
    return out.size();
  }
}
