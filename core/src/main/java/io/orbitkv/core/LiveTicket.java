package io.orbitkv.core;

import io.orbitkv.core.ssd.SsdTask;
import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.LongArrayList;
import org.agrona.collections.LongHashSet;
import org.jspecify.annotations.Nullable;

/** A query that waits for blocks on their way, and the bytes charged for what it hopes to lease. */
final class LiveTicket extends Timer {
  final long id;
  final LiveSession session;
  final Command.Query query;
  long chargedBytes;

  /** Who is told of its end: whoever asked first, and whoever asked the same meanwhile. */
  final List<ReplySink> askers = new ArrayList<>(1);

  /** Reads that were begun for it. */
  final List<SsdTask> reads = new ArrayList<>(1);

  /** Reads from other hosts that were begun for it. */
  final List<LiveFetch> fetches = new ArrayList<>(0);

  /** The question who else has what it lacks, 0 while none is open. */
  long lookupId;

  /** What came of that question, null if nobody was asked. */
  @Nullable PeerHope hope;

  /** Blocks that stay in DRAM for it. */
  final LongArrayList held = new LongArrayList();

  /** Blocks that are neither sealed nor gone; kept by {@link TicketBook}. */
  final LongHashSet awaited = new LongHashSet();

  LiveTicket(long id, LiveSession session, Command.Query query, long chargedBytes) {
    this.id = id;
    this.session = session;
    this.query = query;
    this.chargedBytes = chargedBytes;
    askers.add(query.replyTo());
  }

  /** Whether a query asks the same thing, so that it finds this ticket. */
  boolean asksTheSame(Command.Query other) {
    return other.startToken() == query.startToken()
        && other.limitToken() == query.limitToken()
        && other.groups().equals(query.groups());
  }
}
