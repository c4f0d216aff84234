package io.orbitkv.journal;

import io.orbitkv.state.Fact;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Reads and decodes on a thread of its own, a few batches ahead of the fold, which is half of the
 * work of a long one. What a batch holds lies in one part and behind the same number of cuts, so
 * that whoever takes the facts sees what it would see at the cursor itself.
 */
final class ReadAhead implements FactFeed {
  private static final int BATCH = 512;
  private static final int BATCHES = 8;
  private static final long WAIT_SECONDS = 60;
  private static final Duration END_LIMIT = Duration.ofSeconds(10);

  /** Some facts and what comes behind them. */
  private static final class Batch {
    final Fact[] facts = new Fact[BATCH];
    final long[] offsets = new long[BATCH];
    final long[] indexes = new long[BATCH];
    final long part;
    final long cuts;
    int count;

    /** FACT when another batch follows. */
    FactCursor.Step end = FactCursor.Step.FACT;

    @Nullable Corruption corruption;
    @Nullable Throwable failure;

    Batch(long part, long cuts) {
      this.part = part;
      this.cuts = cuts;
    }
  }

  private final FactCursor cursor;
  private final BlockingQueue<Batch> batches = new ArrayBlockingQueue<>(BATCHES);
  private final Thread thread;
  private volatile boolean stopping;

  private Batch current = new Batch(0, 0);
  private int at = -1;

  /** Takes the cursor over and begins to read. */
  ReadAhead(FactCursor cursor) {
    this.cursor = cursor;
    this.thread = Thread.ofPlatform().daemon().name("journal-read").start(this::read);
  }

  @Override
  public FactCursor.Step next() throws IOException {
    for (; ; ) {
      if (++at < current.count) {
        return FactCursor.Step.FACT;
      }
      if (at == current.count && current.end != FactCursor.Step.FACT) {
        return current.end;
      }
      rethrow(current.failure);
      current = take();
      at = -1;
    }
  }

  private static void rethrow(@Nullable Throwable failure) throws IOException {
    switch (failure) {
      case null -> {}
      case IOException e -> throw e;
      case RuntimeException e -> throw e;
      default -> throw new IllegalStateException("reading the journal failed", failure);
    }
  }

  private Batch take() throws IOException {
    try {
      Batch next = batches.poll(WAIT_SECONDS, TimeUnit.SECONDS);
      if (next == null) {
        throw new IOException("the journal's disk gave nothing for " + WAIT_SECONDS + " s");
      }
      return next;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while reading the journal", e);
    }
  }

  @Override
  public Fact fact() {
    return current.facts[at];
  }

  @Override
  public Corruption corruption() {
    if (current.corruption == null) {
      throw new IllegalStateException("next() has not found one");
    }
    return current.corruption;
  }

  @Override
  public Optional<Corruption> tornTail() {
    return Optional.ofNullable(current.corruption);
  }

  @Override
  public long cuts() {
    return current.cuts;
  }

  @Override
  public long part() {
    return current.part;
  }

  @Override
  public long index() {
    return current.indexes[Math.clamp(at, 0, BATCH - 1)];
  }

  @Override
  public long fileOffset() {
    return current.offsets[Math.clamp(at, 0, BATCH - 1)];
  }

  @Override
  public void close() throws IOException {
    stopping = true;
    batches.clear();
    thread.interrupt();
    try {
      if (!thread.join(END_LIMIT)) {
        throw new IllegalStateException("journal-read did not end");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while closing the journal's reader", e);
    }
    cursor.close();
  }

  // ---- the reading thread ----------------------------------------------------------------------

  private void read() {
    Batch batch = new Batch(0, 0);
    try {
      while (!stopping) {
        FactCursor.Step step = cursor.next();
        if (step == FactCursor.Step.FACT) {
          boolean fits =
              batch.count < BATCH && batch.part == cursor.part() && batch.cuts == cursor.cuts();
          if (!fits) {
            batches.put(batch);
            batch = new Batch(cursor.part(), cursor.cuts());
          }
          batch.facts[batch.count] = cursor.fact();
          batch.offsets[batch.count] = cursor.fileOffset();
          batch.indexes[batch.count++] = cursor.index();
        } else {
          batch.end = step;
          batch.corruption =
              step == FactCursor.Step.DAMAGED
                  ? cursor.corruption()
                  : cursor.tornTail().orElse(null);
          batches.put(batch);
          if (step == FactCursor.Step.END) {
            return;
          }
          batch = new Batch(cursor.part(), cursor.cuts());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // nobody wants more
    } catch (IOException | RuntimeException | Error e) {
      fail(batch, e);
    }
  }

  private void fail(Batch batch, Throwable failure) {
    batch.failure = failure;
    try {
      batches.put(batch);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
