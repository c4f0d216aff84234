package io.orbitkv.core;

/**
 * An open lease, or one that ended while restores under it still run: until the last one its bytes
 * stay charged.
 */
final class LiveLease extends Timer {
  final long id;
  final LiveSession session;
  final String request;
  final long ticketId;
  final int blocks;
  final long chargedBytes;
  final long expiresAtMicros;
  int runningRestores;
  boolean open = true;

  LiveLease(
      long id,
      LiveSession session,
      String request,
      long ticketId,
      int blocks,
      long chargedBytes,
      long expiresAtMicros) {
    this.id = id;
    this.session = session;
    this.request = request;
    this.ticketId = ticketId;
    this.blocks = blocks;
    this.chargedBytes = chargedBytes;
    this.expiresAtMicros = expiresAtMicros;
  }
}
