package io.orbitkv.manager;

import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.Posix;
import io.orbitkv.journal.SpaceReserver;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * Reserves disk blocks for the journal with fallocate, and by writing zeros where the file system
 * has none.
 */
final class DiskSpace implements SpaceReserver {
  private static final Set<String> FULL = Set.of("ENOSPC", "EDQUOT");
  private static final Set<String> NOT_OFFERED = Set.of("EOPNOTSUPP", "ENOSYS", "EINVAL");

  @Override
  public boolean reserve(Path file, long from, long to) throws IOException {
    try {
      Posix.reserve(file, from, to - from);
    } catch (NativeException refused) {
      String why = refused.errno().symbol();
      if (FULL.contains(why)) {
        return false;
      }
      if (NOT_OFFERED.contains(why)) {
        return SpaceReserver.ZERO_FILL.reserve(file, from, to);
      }
      throw refused;
    }
    grow(file, to);
    return true;
  }

  /** Makes the file that long; its last block is reserved already. */
  private static void grow(Path file, long bytes) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      if (channel.size() < bytes) {
        channel.write(ByteBuffer.wrap(new byte[1]), bytes - 1);
      }
    }
  }
}
