package io.orbitkv.core;

import io.orbitkv.core.remote.RemoteRead;

/** A read from another host, until no byte of it can come any more; due when it must have ended. */
final class LiveFetch extends Timer {
  final RemoteRead read;

  /** One for each block of the read. */
  final long[] blockIds;

  /** The request that was the first to want them. */
  final LiveTicket ticket;

  final long bytes;
  final int slices;
  final long startedMicros;
  boolean quarantined;

  /** The place of each block in the ticket's query. */
  PeerHope.Page[] pages = {};

  LiveFetch(
      RemoteRead read,
      long[] blockIds,
      LiveTicket ticket,
      long bytes,
      int slices,
      long startedMicros) {
    this.read = read;
    this.blockIds = blockIds;
    this.ticket = ticket;
    this.bytes = bytes;
    this.slices = slices;
    this.startedMicros = startedMicros;
  }
}
