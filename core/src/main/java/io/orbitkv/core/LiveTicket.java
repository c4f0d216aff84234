package io.orbitkv.core;

import org.agrona.collections.LongArrayList;
import org.agrona.collections.LongHashSet;

/** A query that waits for blocks on their way, and the bytes charged for what it hopes to lease. */
final class LiveTicket extends Timer {
  final long id;
  final LiveSession session;
  final Command.Query query;
  long chargedBytes;

  /** Blocks that stay in DRAM for it; the reads that were begun for it count up. */
  final LongArrayList held = new LongArrayList();

  int loads;

  /** Blocks that are neither sealed nor gone; kept by {@link TicketBook}. */
  final LongHashSet awaited = new LongHashSet();

  LiveTicket(long id, LiveSession session, Command.Query query, long chargedBytes) {
    this.id = id;
    this.session = session;
    this.query = query;
    this.chargedBytes = chargedBytes;
  }

  /** Whether a query asks the same thing, so that it finds this ticket. */
  boolean asksTheSame(Command.Query other) {
    return other.startToken() == query.startToken()
        && other.limitToken() == query.limitToken()
        && other.groups().equals(query.groups());
  }
}
