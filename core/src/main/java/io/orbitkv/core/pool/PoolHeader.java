package io.orbitkv.core.pool;

import io.orbitkv.core.file.FirstPage;
import java.lang.foreign.MemorySegment;
import java.util.UUID;

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
  static final int BYTES = FirstPage.BYTES;

  private static final FirstPage.Kind KIND = new FirstPage.Kind(0x004C_4F4F_5056_4B4FL, 1, 60);

  static FirstPage<PoolHeader> read(MemorySegment page) {
    return KIND.read(
        page,
        valid ->
            new PoolHeader(
                new UUID(valid.get(FirstPage.LONG, 16), valid.get(FirstPage.LONG, 24)),
                valid.get(FirstPage.LONG, 32),
                valid.get(FirstPage.LONG, 40),
                valid.get(FirstPage.LONG, 48)));
  }

  void write(MemorySegment page) {
    KIND.begin(page);
    page.set(FirstPage.LONG, 16, poolId.getMostSignificantBits());
    page.set(FirstPage.LONG, 24, poolId.getLeastSignificantBits());
    page.set(FirstPage.LONG, 32, poolBytes);
    page.set(FirstPage.LONG, 40, poolOffset);
    page.set(FirstPage.LONG, 48, epoch);
    KIND.seal(page);
  }
}
