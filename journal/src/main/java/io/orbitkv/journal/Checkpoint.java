package io.orbitkv.journal;

import io.orbitkv.state.HostState;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;

/**
 * The state after one fact, in a file, so that a start need not fold everything before it.
 *
 * <pre>
 * +----------------+----------------------------+----------------------------------------------+
 * | "OKVCKPT" u8=1 | snapshot                   | trailer, little-endian                       |
 * | 8 bytes        | HostState.writeTo          | 60 bytes                                     |
 * +----------------+----------------------------+----------------------------------------------+
 * trailer:  journal id 2 x u64 | position u64 | time u64 | digest u64 | snapshot bytes u64 |
 *           reserved u64 = 0   | CRC32C of every byte before it u32
 * </pre>
 *
 * It is written under a temporary name, flushed to the disk and renamed, so a file with the right
 * name is whole or was damaged later.
 */
final class Checkpoint {
  private static final byte[] MAGIC = {'O', 'K', 'V', 'C', 'K', 'P', 'T', 1};
  private static final int TRAILER_BYTES = 60;
  private static final int BUFFER_BYTES = 1 << 18;

  private Checkpoint() {}

  /** What a checkpoint's trailer says. */
  record Header(UUID journalId, long position, long atMicros, long digest, long snapshotBytes) {}

  /** Writes the checkpoint of a state and returns its size in bytes. */
  static long write(Path dir, UUID journalId, HostState state) throws IOException {
    Path file = Layout.checkpoint(dir, state.position());
    Path temporary = Layout.temporary(file);
    long size;
    try (FileChannel channel =
        FileChannel.open(
            temporary,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      CRC32C crc = new CRC32C();
      OutputStream checked = new CheckedOutputStream(Channels.newOutputStream(channel), crc);
      DataOutputStream out = new DataOutputStream(new BufferedOutputStream(checked, BUFFER_BYTES));
      out.write(MAGIC);
      state.writeTo(out);
      out.flush();
      ByteBuffer trailer = ByteBuffer.allocate(TRAILER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
      trailer.putLong(journalId.getMostSignificantBits());
      trailer.putLong(journalId.getLeastSignificantBits());
      trailer.putLong(state.position());
      trailer.putLong(state.atMicros());
      trailer.putLong(state.digest());
      trailer.putLong(channel.position() - MAGIC.length);
      trailer.putLong(0);
      crc.update(trailer.array(), 0, trailer.position());
      trailer.putInt((int) crc.getValue());
      trailer.flip();
      while (trailer.hasRemaining()) {
        channel.write(trailer);
      }
      channel.force(true);
      size = channel.size();
    } catch (IOException | RuntimeException e) {
      Files.deleteIfExists(temporary);
      throw e;
    }
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    Layout.syncDirectory(dir);
    return size;
  }

  /**
   * Reads the whole file once and checks its sum.
   *
   * @throws DamagedCheckpoint when it cannot be used
   */
  static Header verify(Path file) throws IOException {
    long size = Files.size(file);
    if (size < MAGIC.length + TRAILER_BYTES) {
      throw new DamagedCheckpoint(file, "it has only " + size + " bytes");
    }
    CRC32C crc = new CRC32C();
    ByteBuffer trailer = ByteBuffer.allocate(TRAILER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      ByteBuffer chunk = ByteBuffer.allocate(BUFFER_BYTES);
      boolean first = true;
      for (long left = size - TRAILER_BYTES; left > 0; ) {
        chunk.clear().limit((int) Math.min(left, chunk.capacity()));
        fill(file, channel, chunk);
        if (first && !startsWithMagic(chunk)) {
          throw new DamagedCheckpoint(file, "it is no checkpoint of a version known here");
        }
        first = false;
        crc.update(chunk.flip());
        left -= chunk.limit();
      }
      fill(file, channel, trailer);
    }
    crc.update(trailer.array(), 0, TRAILER_BYTES - 4);
    int expected = trailer.getInt(TRAILER_BYTES - 4);
    if ((int) crc.getValue() != expected) {
      throw new DamagedCheckpoint(
          file, "checksum is %08x instead of %08x".formatted((int) crc.getValue(), expected));
    }
    Header header =
        new Header(
            new UUID(trailer.getLong(0), trailer.getLong(8)),
            trailer.getLong(16),
            trailer.getLong(24),
            trailer.getLong(32),
            trailer.getLong(40));
    if (!file.getFileName().equals(Layout.checkpoint(file, header.position()).getFileName())) {
      throw new DamagedCheckpoint(file, "it holds the state at position " + header.position());
    }
    return header;
  }

  /**
   * The state of a checkpoint that {@link #verify} found whole.
   *
   * @throws DamagedCheckpoint when the snapshot in it cannot be read
   */
  static HostState load(Path file, Header header) throws IOException {
    HostState state;
    try (InputStream raw = Files.newInputStream(file)) {
      raw.skipNBytes(MAGIC.length);
      state = HostState.readFrom(new DataInputStream(new BufferedInputStream(raw, BUFFER_BYTES)));
    } catch (IOException | RuntimeException e) {
      throw new DamagedCheckpoint(file, "its snapshot cannot be read: " + e.getMessage());
    }
    if (state.position() != header.position() || state.digest() != header.digest()) {
      throw new DamagedCheckpoint(
          file,
          "its snapshot is at position %d with digest %016x, not at %d with %016x"
              .formatted(state.position(), state.digest(), header.position(), header.digest()));
    }
    return state;
  }

  private static boolean startsWithMagic(ByteBuffer chunk) {
    for (int i = 0; i < MAGIC.length; i++) {
      if (chunk.get(i) != MAGIC[i]) {
        return false;
      }
    }
    return true;
  }

  private static void fill(Path file, FileChannel channel, ByteBuffer target) throws IOException {
    while (target.hasRemaining()) {
      if (channel.read(target) < 0) {
        throw new DamagedCheckpoint(file, "it became shorter while it was read");
      }
    }
  }
}
