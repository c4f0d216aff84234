package io.orbitkv.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Which tickets wait for which blocks. Tickets that wait for the same block share its entry; each
 * keeps its own count, and goes to the ready queue when the last block it waits for was sealed or
 * is gone.
 */
final class TicketBook {
  private final Long2ObjectHashMap<List<LiveTicket>> waiting = new Long2ObjectHashMap<>();
  private final ArrayDeque<LiveTicket> ready = new ArrayDeque<>();

  /** Waits for one more block; returns false if the ticket waits for it already. */
  boolean await(LiveTicket ticket, long blockId) {
    List<LiveTicket> tickets = waiting.get(blockId);
    if (tickets == null) {
      tickets = new ArrayList<>(1);
      waiting.put(blockId, tickets);
    }
    if (!ticket.awaited.add(blockId)) {
      return false;
    }
    tickets.add(ticket);
    return true;
  }

  /** A block was sealed or is gone. */
  void settled(long blockId) {
    List<LiveTicket> tickets = waiting.isEmpty() ? null : waiting.remove(blockId);
    if (tickets == null) {
      return;
    }
    for (LiveTicket ticket : tickets) {
      ticket.awaited.remove(blockId);
      if (ticket.awaited.isEmpty() && ticket.lookupId == 0) {
        ready.addLast(ticket);
      }
    }
  }

  /** A ticket's question to other hosts is answered: it is looked at unless it waits for blocks. */
  void answered(LiveTicket ticket) {
    if (ticket.awaited.isEmpty()) {
      ready.addLast(ticket);
    }
  }

  /** Whether a ticket waits for the block. */
  boolean isAwaited(long blockId) {
    return waiting.containsKey(blockId);
  }

  /** The ticket ends or is looked at again: it waits for nothing any more. */
  void forget(LiveTicket ticket) {
    var ids = ticket.awaited.iterator();
    while (ids.hasNext()) {
      long blockId = ids.nextValue();
      List<LiveTicket> tickets = waiting.get(blockId);
      if (tickets != null) {
        tickets.remove(ticket);
        if (tickets.isEmpty()) {
          waiting.remove(blockId);
        }
      }
    }
    ticket.awaited.clear();
    ready.remove(ticket);
  }

  /** The next ticket whose blocks have all settled, null if there is none. */
  @Nullable LiveTicket pollReady() {
    return ready.pollFirst();
  }

  int awaitedBlocks() {
    return waiting.size();
  }
}
