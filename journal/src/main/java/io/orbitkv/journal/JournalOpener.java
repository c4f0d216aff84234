package io.orbitkv.journal;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Takes a journal directory into use for appending: its lock, and a new part behind the last one.
 */
final class JournalOpener implements AutoCloseable {
  private final Path dir;
  private final FileChannel lockChannel;
  private final FileLock lock;
  private boolean handedOver;

  private JournalOpener(Path dir, FileChannel lockChannel, FileLock lock) {
    this.dir = dir;
    this.lockChannel = lockChannel;
    this.lock = lock;
  }

  /** Makes the directory if need be and locks it; empty when another process appends to it. */
  static Optional<JournalOpener> lock(Path dir) throws IOException {
    Files.createDirectories(dir);
    FileChannel channel =
        FileChannel.open(
            dir.resolve(Layout.LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    Optional<FileLock> lock = Optional.empty();
    try {
      lock = Optional.ofNullable(channel.tryLock());
    } catch (OverlappingFileLockException e) {
      // another journal of this process
    } finally {
      if (lock.isEmpty()) {
        channel.close();
      }
    }
    return lock.map(held -> new JournalOpener(dir, channel, held));
  }

  /**
   * Begins a new part and hands the lock to the journal that appends to it. Parts at the end that
   * hold no fact, left by a process that died, are deleted.
   *
   * @return empty when the disk has no room for a part
   */
  Optional<Journal> append(
      JournalOptions options,
      UUID journalId,
      long lastPosition,
      long atMicros,
      JournalKeeper.RollListener rolls)
      throws IOException {
    Layout.deleteTemporaries(dir);
    long number = 1;
    for (Map.Entry<Long, Path> last : new TreeMap<>(Layout.parts(dir)).descendingMap().entrySet()) {
      if (!isUnused(last.getValue())) {
        number = last.getKey() + 1;
        break;
      }
      Layout.deletePart(last.getValue());
    }
    Optional<PartWriter> part =
        PartWriter.create(
            dir,
            number,
            options.partBytes(),
            JournalKeeper.firstReserveBytes(options),
            options.reserver(),
            new PartOpened(journalId, number),
            atMicros);
    if (part.isEmpty()) {
      return Optional.empty();
    }
    JournalKeeper keeper =
        new JournalKeeper(dir, options, journalId, part.get(), lastPosition, rolls);
    handedOver = true;
    keeper.start();
    return Optional.of(
        new ChronicleJournal(options, part.get(), lastPosition, keeper, lockChannel, lock));
  }

  /**
   * Whether a part was only prepared: nothing, or its first record and zeros. A damaged part is
   * kept.
   */
  private static boolean isUnused(Path part) throws IOException {
    try (PartReader reader = PartReader.open(part)) {
      PartReader.Step step = reader.next();
      if (step == PartReader.Step.RECORD && reader.record().type() == FactType.PART_OPENED) {
        step = reader.next();
      }
      return step == PartReader.Step.END && reader.bytesBehind() == 0;
    } catch (NoSuchFileException e) {
      return true;
    }
  }

  /** Gives the lock back, unless a journal has it now. */
  @Override
  public void close() throws IOException {
    if (!handedOver) {
      lock.release();
      lockChannel.close();
    }
  }
}
