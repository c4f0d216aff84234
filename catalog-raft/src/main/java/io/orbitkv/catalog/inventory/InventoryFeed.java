package io.orbitkv.catalog.inventory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The latest changes of one table in order, for subscribers. It holds so many rows at most; who
 * asks for what was dropped learns that there is a gap, reads the table and goes on from its end.
 */
public final class InventoryFeed {
  /** Rows that are held by default: about 0.3 MiB. */
  public static final int DEFAULT_CHANGES = 8192;

  private final int maxRows;
  private final ArrayDeque<FeedEvent> events = new ArrayDeque<>();
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private long last;
  private int rows;

  InventoryFeed(int maxRows) {
    this.maxRows = maxRows;
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
    long oldest = last - events.size() + 1;
    if (number < oldest - 1 || number > last) {
      return Optional.empty();
    }
    List<FeedEvent> found = new ArrayList<>();
    for (FeedEvent event : events) {
      if (event.number() > number) {
        found.add(event);
        if (found.size() == max) {
          break;
        }
      }
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
    events.addLast(event);
    rows += weight(event);
    while (rows > maxRows && events.size() > 1) {
      rows -= weight(events.removeFirst());
    }
  }

  private static int weight(FeedEvent event) {
    return switch (event) {
      case FeedEvent.Changed changed -> 1 + changed.rows().size();
      case FeedEvent.Replaced _, FeedEvent.Dropped _ -> 1;
    };
  }
}
