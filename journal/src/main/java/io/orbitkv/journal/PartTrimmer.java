package io.orbitkv.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Gives back the blocks that a process which died had reserved behind its last record. Only zeros
 * at the end of a file go; a torn record stays as it is.
 */
final class PartTrimmer {
  private static final int CHUNK_BYTES = 1 << 20;

  /** Zeros that stay, so that the end of the records is still marked. */
  private static final int KEPT_BYTES = 64;

  private PartTrimmer() {}

  /** Trims every part before the one that is being written. */
  static void trimBefore(Path dir, long livePart) throws IOException {
    for (Path part : Layout.parts(dir).headMap(livePart).values()) {
      try (FileChannel channel =
          FileChannel.open(Layout.facts(part), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        long end = usedBytes(channel) + KEPT_BYTES;
        if (end < channel.size()) {
          channel.truncate(end);
        }
      } catch (NoSuchFileException e) {
        // The process died while it made this part: nothing to trim.
      }
    }
  }

  /** Up to the last byte that is not zero, read backwards from the end. */
  private static long usedBytes(FileChannel channel) throws IOException {
    ByteBuffer chunk = ByteBuffer.allocate(CHUNK_BYTES);
    long end = channel.size();
    while (end > 0) {
      long start = Math.max(0, end - CHUNK_BYTES);
      chunk.clear().limit((int) (end - start));
      while (chunk.hasRemaining()) {
        if (channel.read(chunk, start + chunk.position()) < 0) {
          throw new IOException("a part became shorter while it was trimmed");
        }
      }
      for (int i = chunk.limit() - 1; i >= 0; i--) {
        if (chunk.get(i) != 0) {
          return start + i + 1;
        }
      }
      end = start;
    }
    return 0;
  }
}
