package io.orbitkv.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/** Where {@link Epoll#await} puts what happened. Reused from wait to wait, by one thread. */
public final class EpollEvents {
  final MemorySegment buffer;
  final int capacity;
  private int count;

  /**
   * @param capacity how many events one wait returns at most; the rest come with the next
   */
  public EpollEvents(int capacity) {
    if (capacity <= 0) {
      throw new IllegalArgumentException("capacity must be positive: " + capacity);
    }
    this.capacity = capacity;
    this.buffer = Arena.ofAuto().allocate((long) capacity * Abi.CURRENT.epollEventBytes, 8);
  }

  /** How many events the last wait returned. */
  public int count() {
    return count;
  }

  /** The {@link Epoll} bits of one of them, which may include ERR and HUP unasked. */
  public int events(int index) {
    return buffer.get(ValueLayout.JAVA_INT_UNALIGNED, offset(index));
  }

  /** The number with which its descriptor was added. */
  public long data(int index) {
    return buffer.get(ValueLayout.JAVA_LONG_UNALIGNED, offset(index) + Abi.CURRENT.epollDataOffset);
  }

  void setCount(int newCount) {
    count = newCount;
  }

  private long offset(int index) {
    return (long) Objects.checkIndex(index, count) * Abi.CURRENT.epollEventBytes;
  }
}
