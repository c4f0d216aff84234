package io.orbitkv.journal;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * Appends facts to the newest part and goes on to the next one when it is full or old. The next
 * part is made ready by the {@link JournalKeeper} beforehand, so that going on costs the loop
 * thread two assignments.
 *
 * <p>Room: a record is appended only to bytes that are reserved. {@code hasRoom} is true when the
 * present part or the prepared next one alone can take what is asked for and {@code
 * endingsReserveBytes} more, so a batch that was promised fits wherever it begins.
 */
final class ChronicleJournal implements Journal {
  /**
   * What a fact takes beside its columns: record header, document header, a request name, numbers.
   */
  private static final long FACT_BYTES = 320;

  private final JournalOptions options;
  private final JournalKeeper keeper;
  private final FileChannel lockChannel;
  private final FileLock lock;
  private final RecordEncoder encoder = new RecordEncoder();
  private final long partAgeMicros;

  private PartWriter part;
  private long partOpenedMicros;
  private long position;

  /** When the present part has grown to this, the keeper is woken to reserve more. */
  private long wakeAtBytes;

  private boolean closed;

  ChronicleJournal(
      JournalOptions options,
      PartWriter part,
      long lastPosition,
      JournalKeeper keeper,
      FileChannel lockChannel,
      FileLock lock) {
    this.options = options;
    this.part = part;
    this.position = lastPosition;
    this.keeper = keeper;
    this.lockChannel = lockChannel;
    this.lock = lock;
    this.partAgeMicros = options.partAge().toNanos() / 1000;
    this.wakeAtBytes = part.end() + JournalKeeper.STEP_BYTES;
  }

  @Override
  public long append(long atMicros, HostEvent event) {
    long next = position + 1;
    int length = encoder.fact(next, atMicros, event);
    if (length > RecordFormat.MAX_RECORD_BYTES) {
      throw new IllegalArgumentException(
          "a %s of %d bytes was not asked for".formatted(event.getClass().getSimpleName(), length));
    }
    PartWriter current = part;
    if (partOpenedMicros == 0) {
      partOpenedMicros = atMicros;
    }
    if (current.roomBytes() < length || atMicros - partOpenedMicros > partAgeMicros) {
      current = roll(current, length, atMicros);
    }
    current.append(encoder, length);
    position = next;
    keeper.appended(next);
    if (current.end() >= wakeAtBytes) {
      wakeAtBytes = current.end() + JournalKeeper.STEP_BYTES;
      keeper.wake();
    }
    return next;
  }

  @Override
  public boolean hasRoom(int facts, long columnBytes) {
    long bytes = columnBytes + facts * FACT_BYTES + options.endingsReserveBytes();
    if (columnBytes > RecordFormat.MAX_RECORD_BYTES / 2) {
      return false;
    }
    if (part.roomBytes() >= bytes) {
      return true;
    }
    PartWriter next = keeper.prepared();
    if (next != null && next.roomBytes() >= bytes) {
      return true;
    }
    keeper.wake();
    return false;
  }

  @Override
  public long lastPosition() {
    return position;
  }

  @Override
  public void endBatch() {
    if (options.sync() instanceof SyncMode.EachBatch) {
      keeper.flushNow(part, position);
    }
  }

  @Override
  public JournalStats stats() {
    return keeper.stats();
  }

  @Override
  public void close() {
    close(() -> false);
  }

  @Override
  public boolean close(HostState state, Duration limit) {
    if (state.position() != position) {
      close();
      throw new IllegalArgumentException(
          "the state is at position %d, the journal at %d".formatted(state.position(), position));
    }
    return close(() -> keeper.checkpoint(state, limit));
  }

  private boolean close(BooleanSupplier last) {
    if (closed) {
      return false;
    }
    closed = true;
    try (lockChannel;
        lock) {
      keeper.close();
      return last.getAsBoolean();
    } catch (IOException e) {
      throw new UncheckedIOException("closing the journal", e);
    }
  }

  private PartWriter roll(PartWriter full, int length, long atMicros) {
    PartWriter next = keeper.prepared();
    if (next == null || next.roomBytes() < length) {
      keeper.wake();
      if (full.roomBytes() < length) {
        throw new JournalFull(
            "position %d needs %d bytes; part %d has %d left and no next part is ready"
                .formatted(position + 1, length, full.number(), full.roomBytes()));
      }
      return full; // old, but the next part is not ready yet
    }
    if (options.sync() instanceof SyncMode.EachBatch) {
      keeper.flushNow(full, position);
    }
    keeper.rolled(full, next, position);
    part = next;
    partOpenedMicros = atMicros;
    wakeAtBytes = next.end() + JournalKeeper.STEP_BYTES;
    return next;
  }
}
