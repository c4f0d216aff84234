package io.orbitkv.core;

import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Timers by deadline: a binary heap whose elements know their place, so that cancelling one (the
 * common end of a lease) costs no search and leaves nothing behind.
 */
final class Timers {
  private Timer[] heap = new Timer[64];
  private int size;
  private long nextSequence;

  /** Makes {@code timer} due at the given time of the monotonic clock; an armed timer is moved. */
  void arm(Timer timer, long deadlineMicros) {
    cancel(timer);
    timer.deadlineMicros = deadlineMicros;
    timer.sequence = nextSequence++;
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, size * 2);
    }
    place(timer, size);
    size++;
    siftUp(timer);
  }

  /** Does nothing when the timer is not armed. */
  void cancel(Timer timer) {
    int hole = timer.heapIndex;
    if (hole < 0) {
      return;
    }
    timer.heapIndex = -1;
    size--;
    Timer last = heap[size];
    if (last != timer) {
      place(last, hole);
      siftUp(last);
      siftDown(last);
    }
  }

  /** Takes timers that are due, at most {@code limit}; returns how many. */
  int takeDue(long nowMicros, int limit, Consumer<Timer> due) {
    int taken = 0;
    while (taken < limit && size > 0 && heap[0].deadlineMicros <= nowMicros) {
      Timer first = heap[0];
      cancel(first);
      due.accept(first);
      taken++;
    }
    return taken;
  }

  /** When the next timer is due; {@link Long#MAX_VALUE} when none is armed. */
  long nextDeadlineMicros() {
    return size == 0 ? Long.MAX_VALUE : heap[0].deadlineMicros;
  }

  int armed() {
    return size;
  }

  private void siftUp(Timer timer) {
    while (timer.heapIndex > 0) {
      Timer parent = heap[(timer.heapIndex - 1) / 2];
      if (!before(timer, parent)) {
        return;
      }
      swap(timer, parent);
    }
  }

  private void siftDown(Timer timer) {
    while (true) {
      int left = 2 * timer.heapIndex + 1;
      if (left >= size) {
        return;
      }
      Timer child = heap[left];
      if (left + 1 < size && before(heap[left + 1], child)) {
        child = heap[left + 1];
      }
      if (!before(child, timer)) {
        return;
      }
      swap(child, timer);
    }
  }

  private void swap(Timer rising, Timer sinking) {
    int upper = sinking.heapIndex;
    int lower = rising.heapIndex;
    place(rising, upper);
    place(sinking, lower);
  }

  private void place(Timer timer, int index) {
    heap[index] = timer;
    timer.heapIndex = index;
  }

  private static boolean before(Timer a, Timer b) {
    return a.deadlineMicros != b.deadlineMicros
        ? a.deadlineMicros < b.deadlineMicros
        : a.sequence < b.sequence;
  }
}
