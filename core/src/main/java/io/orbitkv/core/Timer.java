package io.orbitkv.core;

/** Something that is due at a time unless it is cancelled before; an element of {@link Timers}. */
abstract sealed class Timer
    permits AdoptionRetry,
        LiveFetch,
        LiveGrant,
        LiveLease,
        LiveTicket,
        PeerDrain,
        StagedGrant,
        TierRetry,
        TierWatch,
        UnsealedBlocks,
        WaitingRegistration {
  /** Place in the heap, -1 while not armed. */
  int heapIndex = -1;

  /** Monotonic clock. */
  long deadlineMicros;

  /** Arming order, so that equal deadlines are due in a fixed order. */
  long sequence;
}
