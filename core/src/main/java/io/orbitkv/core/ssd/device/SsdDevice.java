package io.orbitkv.core.ssd.device;

/**
 * Reads and writes between files and the pool, many at a time, without waiting for any.
 *
 * <p>An operation is queued by {@link #read} or {@link #write}, given to the system by {@link
 * #flush} at the latest (or by {@link #await}, which flushes first) and ends in exactly one {@link
 * Completions#completed}, told by {@link #poll}. Operations end in any order. Until it has ended,
 * an operation may read or write its part of the pool at any moment, so that part must be neither
 * reused nor unmapped. There is no way to take an operation back: a caller that gives up on one
 * keeps its memory aside until it ends.
 *
 * <p>Offsets and sizes are multiples of {@link #ALIGNMENT_BYTES} and an operation moves at most
 * {@link #MAX_BYTES}; anything else, and a range outside the pool or a file number that was not
 * given when the device was opened, is a mistake of the caller and throws {@link
 * IllegalArgumentException}. Whatever a disk does wrong is a result.
 *
 * <p>The first thread that calls anything but {@link #wake} is the only one that may call it.
 */
public interface SsdDevice extends AutoCloseable {
  /** What every offset and size is a multiple of. */
  int ALIGNMENT_BYTES = 4096;

  /** The most bytes that one operation moves. */
  int MAX_BYTES = 4 << 20;

  /** How many operations can be in flight. */
  int depth();

  /** How many operations were accepted and have not been told as ended. */
  int inFlight();

  /**
   * Queues a read from a file into the pool.
   *
   * @param file its place in the list of files that the device was opened with
   * @param token comes back with the result
   * @return false, and nothing was queued, if {@link #depth} operations are in flight
   */
  boolean read(int file, long fileOffset, long poolOffset, int bytes, long token);

  /** Queues a write from the pool to a file; otherwise like {@link #read}. */
  boolean write(int file, long fileOffset, long poolOffset, int bytes, long token);

  /** Gives what is still queued to the system. */
  void flush();

  /**
   * Tells of the operations that ended. The sink may queue further ones.
   *
   * @return how many ended
   */
  int poll(Completions sink);

  /**
   * Flushes, then sleeps until an operation has ended, {@link #wake} was called since the last
   * {@code await}, or the time is over. May return earlier than that for no reason.
   *
   * @param timeoutNanos how long at most; 0 or less does not sleep
   */
  void await(long timeoutNanos);

  /** Ends an {@link #await}, the current or the next one. Any thread may call it, often. */
  void wake();

  /**
   * Waits for what is in flight, a bounded time, and releases the device. Results that were not
   * polled are dropped.
   *
   * @throws IllegalStateException if operations are still in flight, with their number and tokens.
   *     Nothing has been released then and the pool must stay mapped; a later call tries again
   */
  @Override
  void close();
}
