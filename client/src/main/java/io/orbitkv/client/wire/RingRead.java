package io.orbitkv.client.wire;

/** What looking for the next entry of a ring gave. */
public enum RingRead {
  /** Nothing is there. */
  EMPTY,
  /** One was taken. */
  TAKEN,
  /** The other side broke the ring's rules; nothing in it can be trusted any more. */
  BROKEN
}
