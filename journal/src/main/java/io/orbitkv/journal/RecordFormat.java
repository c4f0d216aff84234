package io.orbitkv.journal;

/**
 * One record: the bytes of one Chronicle document. All numbers are little-endian.
 *
 * <pre>
 *  0        1       2        4                 12                20        24            24+length
 *  +--------+-------+--------+-----------------+-----------------+---------+-------------+---------+
 *  | format | flags | type   | position        | time            | length  | payload     | CRC32C  |
 *  | u8     | u8    | u16    | u64             | u64             | u32     | protobuf    | u32     |
 *  +--------+-------+--------+-----------------+-----------------+---------+-------------+---------+
 * </pre>
 *
 * {@code format} is {@value #VERSION}; {@code flags} is 0; {@code type} is a number of {@link
 * FactType}; {@code position} counts facts from 1 over the journal's whole life (0 in a part's
 * first record, which is no fact); {@code time} is in microseconds since 1970; the sum covers every
 * byte before it.
 */
final class RecordFormat {
  static final int VERSION = 1;

  static final int FORMAT_AT = 0;
  static final int FLAGS_AT = 1;
  static final int TYPE_AT = 2;
  static final int POSITION_AT = 4;
  static final int TIME_AT = 12;
  static final int LENGTH_AT = 20;
  static final int PAYLOAD_AT = 24;

  static final int CRC_BYTES = 4;
  static final int OVERHEAD_BYTES = PAYLOAD_AT + CRC_BYTES;

  /** No record is longer: what says otherwise is damaged. */
  static final int MAX_RECORD_BYTES = 16 << 20;

  private RecordFormat() {}
}
