package io.orbitkv.catalog.inventory;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The latest changes of one table in order, for subscribers. It holds so many rows at most; who
 * asks for what was dropped learns that there is a gap, reads the table and goes on from its end.
 */
public final class InventoryFeed {
  /** Rows that are held by default: about 0.3 MiB. */
  public static final int DEFAULT_CHANGES = 8192;

  private final int maxRows;

  /** By number; every event weighs at least one, so those that are held never share a place. */
  private final @Nullable FeedEvent[] ring;

  private long oldest = 1;
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private long last;
  private int rows;

  InventoryFeed(int maxRows) {
    this.maxRows = maxRows;
    this.ring = new FeedEvent[maxRows + 1];
  }

  /** The number of the latest event, 0 when there was none. */
  public synchronized long last() {
    return last;
  }

  /**
   * Events behind a number.
   *
   * @return at most {@code max} of them, or nothing when some of them are not held any more or the
   *     number is of another run
   */
  public synchronized Optional<List<FeedEvent>> after(long number, int max) {
    if (number < oldest - 1 || number > last) {
      return Optional.empty();
    }
    List<FeedEvent> found = new ArrayList<>();
    for (long next = number + 1; next <= last && found.size() < max; next++) {
      found.add(event(next));
    }
    return Optional.of(found);
  }

  /** Has {@code wake} called after each change, by a thread that must not be held up. */
  public void onChange(Runnable wake) {
    listeners.add(wake);
  }

  /** Ends {@link #onChange}. */
  public void removeListener(Runnable wake) {
    listeners.remove(wake);
  }

  void changed(OwnerRun owner, long after, long through, RowBatch batch) {
    if (batch.size() == 0) {
      return;
    }
    synchronized (this) {
      add(new FeedEvent.Changed(++last, owner, after, through, batch));
    }
    listeners.forEach(Runnable::run);
  }

  void replaced(OwnerRun owner, long position) {
    synchronized (this) {
      add(new FeedEvent.Replaced(++last, owner, position));
    }
    listeners.forEach(Runnable::run);
  }

  void dropped(OwnerRun owner) {
    synchronized (this) {
      add(new FeedEvent.Dropped(++last, owner));
    }
    listeners.forEach(Runnable::run);
  }

  private void add(FeedEvent event) {
    rows += weight(event);
    while (oldest < event.number() && rows > maxRows) {
      rows -= weight(event(oldest));
      ring[place(oldest)] = null;
      oldest++;
    }
    ring[place(event.number())] = event;
  }

  private FeedEvent event(long number) {
    return Objects.requireNonNull(ring[place(number)]);
  }

  private int place(long number) {
    return (int) (number % ring.length);
  }

  private static int weight(FeedEvent event) {
    return switch (event) {
      case FeedEvent.Changed changed -> 1 + changed.rows().size();
      case FeedEvent.Replaced _, FeedEvent.Dropped _ -> 1;
    };
  }
}
