package io.orbitkv.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Makes sure that disk blocks stand behind a range of a file before it is written through a
 * mapping, where a full disk would be a SIGBUS. Called from background threads, and once when a
 * journal is opened.
 */
@FunctionalInterface
public interface SpaceReserver {

  /**
   * Reserves {@code [from, to)} of an existing file; the file grows to {@code to} if it is shorter.
   * Nothing was ever written to the range, and it must read as zeros afterwards.
   *
   * @return false when the disk (or a quota) has no room; part of the range may be reserved then
   * @throws IOException for anything else
   */
  boolean reserve(Path file, long from, long to) throws IOException;

  /**
   * Writes zeros. Needs nothing but Java, holds on every file system that does not write each block
   * to a new place, and leaves the pages in memory so that the appending thread does not wait for
   * them.
   */
  SpaceReserver ZERO_FILL =
      (file, from, to) -> {
        ByteBuffer zeros = ByteBuffer.allocateDirect(1 << 18);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
          for (long at = from; at < to; ) {
            zeros.clear().limit((int) Math.min(zeros.capacity(), to - at));
            at += channel.write(zeros, at);
          }
          return true;
        } catch (IOException e) {
          if (DiskFull.is(e)) {
            return false;
          }
          throw e;
        }
      };
}
