package io.orbitkv.core;

/** Until when the end of the daemon waits for grants to drain. */
final class PeerDrain extends Timer {
  /** Whether it waits no longer. */
  boolean over;
}
