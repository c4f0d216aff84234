package io.orbitkv.state;

import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostEvent.LeaseGranted;
import io.orbitkv.state.HostEvent.LeaseReleased;
import io.orbitkv.state.HostEvent.QueryMissed;
import io.orbitkv.state.HostEvent.RestoreFinished;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import io.orbitkv.state.HostEvent.RestoreStarted;
import io.orbitkv.state.HostEvent.TicketClosed;
import io.orbitkv.state.HostEvent.TicketEnd;
import io.orbitkv.state.HostEvent.TicketOpened;
import io.orbitkv.state.Totals.Counter;
import java.util.List;

/** Who may read what: leases, the tickets that become leases, and restores. */
final class Reads {
  final LongMap<OpenLease> leases = new LongMap<>();
  final LongMap<OpenTicket> tickets = new LongMap<>();
  final LongMap<OpenRestore> restores = new LongMap<>();

  private final Registry registry;
  private final BlockTable blocks;
  private final Totals totals;

  long nextLeaseId = 1;
  long nextTicketId = 1;
  long nextRestoreId = 1;
  private long digest;

  /** Whether {@link #digest} is kept; if not it is computed when somebody asks. */
  private boolean summing = true;

  Reads(Registry registry, BlockTable blocks, Totals totals) {
    this.registry = registry;
    this.blocks = blocks;
    this.totals = totals;
  }

  long digest() {
    if (!summing) {
      digest = digestFromScratch();
      summing = true;
    }
    return digest;
  }

  /** Stops keeping the digest until somebody asks for it. */
  void deferDigest() {
    summing = false;
  }

  // ---- leases ----------------------------------------------------------------------------------

  void grant(Fact fact, LeaseGranted event) {
    long position = fact.position();
    HostInvariants.newId(position, "lease", event.leaseId(), nextLeaseId);
    OpenSession session = HostInvariants.live(position, registry, event.sessionId());
    if (event.ticketId() != 0) {
      OpenTicket ticket =
          HostInvariants.open(
              position, "ticket", event.ticketId(), tickets.get(event.ticketId()), nextTicketId);
      if (ticket.sessionId() != event.sessionId()) {
        throw HostInvariants.broken(
            position,
            "lease %d of session %d fulfils ticket %d of session %d",
            event.leaseId(),
            event.sessionId(),
            ticket.id(),
            ticket.sessionId());
      }
    }
    nextLeaseId = event.leaseId() + 1;
    for (GroupLease held : event.held()) {
      GroupRow group =
          HostInvariants.group(position, registry, session.namespaceId(), held.groupId());
      pinSealed(position, event.leaseId(), group, held.blocks());
    }
    OpenLease lease =
        new OpenLease(
            event.leaseId(),
            event.sessionId(),
            event.request(),
            event.ticketId(),
            event.expiresAtMicros(),
            event.held(),
            position,
            fact.atMicros());
    add(session, lease);
    totals.add(Counter.LEASES_GRANTED, 1);
    totals.add(Counter.LEASED_BLOCKS, lease.blocks());
    count(event.answers());
  }

  void add(OpenSession session, OpenLease lease) {
    session.leases++;
    leases.put(lease.id(), lease);
    digest += summing ? lease.digestPart() : 0;
  }

  void release(long position, LeaseReleased event, Effects effects) {
    OpenLease lease =
        HostInvariants.open(
            position, "lease", event.leaseId(), leases.remove(event.leaseId()), nextLeaseId);
    HostInvariants.session(position, registry, lease.sessionId()).leases--;
    digest -= summing ? lease.digestPart() : 0;
    unpin(position, "lease", lease.id(), lease.held(), effects);
    totals.leasesEnded.add(event.reason(), 1);
  }

  void miss(QueryMissed event) {
    count(event.answers());
  }

  private void count(List<GroupAnswer> answers) {
    totals.add(Counter.QUERIES, 1);
    for (GroupAnswer answer : answers) {
      totals.add(Counter.ASKED_BLOCKS, answer.askedBlocks());
      totals.add(Counter.HIT_BLOCKS, answer.hitBlocks());
    }
  }

  // ---- tickets ---------------------------------------------------------------------------------

  void openTicket(Fact fact, TicketOpened event) {
    long position = fact.position();
    HostInvariants.newId(position, "ticket", event.ticketId(), nextTicketId);
    OpenSession session = HostInvariants.live(position, registry, event.sessionId());
    LongRanges ids = event.awaited();
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; id++) {
        slot = blocks.slotOf(id, slot);
        HostInvariants.findable(position, blocks, slot, id, "awaited");
      }
    }
    nextTicketId = event.ticketId() + 1;
    add(
        session,
        new OpenTicket(
            event.ticketId(),
            event.sessionId(),
            event.request(),
            event.awaited(),
            position,
            fact.atMicros()));
    totals.add(Counter.TICKETS_OPENED, 1);
  }

  void add(OpenSession session, OpenTicket ticket) {
    session.tickets++;
    tickets.put(ticket.id(), ticket);
    digest += summing ? ticket.digestPart() : 0;
  }

  void closeTicket(long position, TicketClosed event) {
    OpenTicket ticket =
        HostInvariants.open(
            position, "ticket", event.ticketId(), tickets.remove(event.ticketId()), nextTicketId);
    HostInvariants.session(position, registry, ticket.sessionId()).tickets--;
    digest -= summing ? ticket.digestPart() : 0;
    if (event.leaseId() != 0 && event.outcome() != TicketEnd.READY) {
      throw HostInvariants.broken(
          position,
          "ticket %d ended %s with lease %d; only a ticket that is READY has a lease",
          ticket.id(),
          event.outcome(),
          event.leaseId());
    }
    if (event.leaseId() != 0) {
      OpenLease lease =
          HostInvariants.open(
              position, "lease", event.leaseId(), leases.get(event.leaseId()), nextLeaseId);
      if (lease.ticketId() != ticket.id()) {
        throw HostInvariants.broken(
            position,
            "ticket %d ended with lease %d, which was granted to ticket %d",
            ticket.id(),
            lease.id(),
            lease.ticketId());
      }
    }
    totals.ticketsClosed.add(event.outcome(), 1);
  }

  // ---- restores --------------------------------------------------------------------------------

  void startRestore(Fact fact, RestoreStarted event) {
    long position = fact.position();
    HostInvariants.newId(position, "restore", event.restoreId(), nextRestoreId);
    OpenSession session = HostInvariants.live(position, registry, event.sessionId());
    OpenLease lease =
        HostInvariants.open(
            position, "lease", event.leaseId(), leases.get(event.leaseId()), nextLeaseId);
    OpenSession owner = HostInvariants.session(position, registry, lease.sessionId());
    if (owner.namespaceId() != session.namespaceId()) {
      throw HostInvariants.broken(
          position,
          "restore %d of %s reads lease %d of %s across namespaces",
          event.restoreId(),
          session,
          lease.id(),
          owner);
    }
    nextRestoreId = event.restoreId() + 1;
    for (GroupLease held : lease.held()) {
      pin(position, event.leaseId(), held.blocks());
    }
    add(
        session,
        new OpenRestore(
            event.restoreId(),
            event.sessionId(),
            event.leaseId(),
            event.blocks(),
            event.bytes(),
            lease.held(),
            position,
            fact.atMicros()));
    totals.add(Counter.RESTORES_STARTED, 1);
  }

  void add(OpenSession session, OpenRestore restore) {
    session.restores++;
    restores.put(restore.id(), restore);
    digest += summing ? restore.digestPart() : 0;
  }

  void finishRestore(long position, RestoreFinished event, Effects effects) {
    OpenRestore restore =
        HostInvariants.open(
            position,
            "restore",
            event.restoreId(),
            restores.remove(event.restoreId()),
            nextRestoreId);
    HostInvariants.session(position, registry, restore.sessionId()).restores--;
    digest -= summing ? restore.digestPart() : 0;
    unpin(position, "restore", restore.id(), restore.held(), effects);
    totals.restoresFinished.add(event.outcome(), 1);
    if (event.outcome() == RestoreOutcome.DONE) {
      totals.add(Counter.RESTORED_BLOCKS, restore.blocks());
      totals.add(Counter.RESTORED_BYTES, event.bytes());
      totals.add(Counter.RESTORE_MICROS, event.durationMicros());
    }
  }

  // ---- pins ------------------------------------------------------------------------------------

  private void pinSealed(long position, long leaseId, GroupRow group, LongRanges ids) {
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; ) {
        slot = blocks.slotOf(id, slot);
        HostInvariants.leasable(position, blocks, slot, id, group, leaseId);
        int done = blocks.pinSealed(slot, blocks.neighbours(slot, id, (int) (end - id)), group);
        if (blocks.keepsUse) {
          blocks.leased(slot, done, position);
        }
        id += done;
        slot += done - 1;
      }
    }
  }

  private void pin(long position, long leaseId, LongRanges ids) {
    int slot = -1;
    for (int run = 0; run < ids.runs(); run++) {
      long end = ids.first(run) + ids.count(run);
      for (long id = ids.first(run); id < end; ) {
        slot = HostInvariants.pinned(position, blocks, id, slot, "lease", leaseId);
        int done = blocks.pinPinned(slot, blocks.neighbours(slot, id, (int) (end - id)));
        id += done;
        slot += done - 1;
      }
    }
  }

  private void unpin(
      long position, String what, long holder, List<GroupLease> held, Effects effects) {
    for (GroupLease group : held) {
      LongRanges ids = group.blocks();
      int slot = -1;
      for (int run = 0; run < ids.runs(); run++) {
        long end = ids.first(run) + ids.count(run);
        for (long id = ids.first(run); id < end; ) {
          slot = HostInvariants.pinned(position, blocks, id, slot, what, holder);
          int done = blocks.unpin(slot, blocks.neighbours(slot, id, (int) (end - id)), effects);
          id += done;
          slot += done - 1;
        }
      }
    }
  }

  long digestFromScratch() {
    long sum = 0;
    for (OpenLease lease : leases.inOrder()) {
      sum += lease.digestPart();
    }
    for (OpenTicket ticket : tickets.inOrder()) {
      sum += ticket.digestPart();
    }
    for (OpenRestore restore : restores.inOrder()) {
      sum += restore.digestPart();
    }
    return sum;
  }
}
