package io.orbitkv.core.ssd.device;

import io.orbitkv.ffi.DiskFile;
import io.orbitkv.ffi.NativeException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** What an operation may name: so many files of fixed lengths and one pool. */
final class Bounds {
  private final long[] fileBytes;
  private final long poolBytes;

  /** The files' lengths are taken once: no write makes one longer. */
  Bounds(List<DiskFile> files, MemorySegment pool) throws NativeException {
    if (!pool.isNative() || pool.address() % SsdDevice.ALIGNMENT_BYTES != 0) {
      throw new IllegalArgumentException("the pool is not mapped at a multiple of 4096");
    }
    fileBytes = new long[files.size()];
    for (int i = 0; i < fileBytes.length; i++) {
      fileBytes[i] = files.get(i).bytes();
    }
    poolBytes = pool.byteSize();
  }

  void check(int file, long fileOffset, long poolOffset, int bytes) {
    boolean fits =
        file >= 0
            && file < fileBytes.length
            && bytes > 0
            && bytes <= SsdDevice.MAX_BYTES
            && fileOffset >= 0
            && fileOffset <= fileBytes[file] - bytes
            && poolOffset >= 0
            && poolOffset <= poolBytes - bytes
            && ((fileOffset | poolOffset | bytes) & (SsdDevice.ALIGNMENT_BYTES - 1)) == 0;
    if (!fits) {
      throw new IllegalArgumentException(
          "no operation: file %d of %d at %d, pool of %d at %d, %d bytes"
              .formatted(file, fileBytes.length, fileOffset, poolBytes, poolOffset, bytes));
    }
  }
}
