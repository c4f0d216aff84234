package io.orbitkv.core;

import io.orbitkv.core.Command.Release;
import io.orbitkv.core.Reply.Refused;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.LeaseGranted;
import io.orbitkv.state.HostEvent.LeaseReleased;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Leases and the budgets they are charged to. The bytes of a lease stay charged until it has ended
 * and the last restore under it has: an expired lease never frees memory that is being read.
 */
final class LeaseDecisions {
  private final Host host;

  LeaseDecisions(Host host) {
    this.host = host;
  }

  /** Why an instance cannot be charged so many bytes more, null if it can. */
  @Nullable Refused budgetProblem(LiveInstance instance, long bytes) {
    if (!instance.budget.fits(bytes)) {
      return overBudget(RefusalCode.BUDGET_INSTANCE, instance.budget, bytes);
    }
    return host.budget.fits(bytes)
        ? null
        : overBudget(RefusalCode.BUDGET_GLOBAL, host.budget, bytes);
  }

  private static Refused overBudget(RefusalCode code, Budget budget, long bytes) {
    return new Refused(
        code,
        "%d bytes wanted, %d of %d in use"
            .formatted(bytes, budget.usedBytes(), budget.limitBytes()),
        null,
        budget.possible(bytes) ? code.retryAfterMillis() : 0);
  }

  void charge(LiveInstance instance, long bytes) {
    instance.budget.charge(bytes);
    host.budget.charge(bytes);
  }

  void giveBack(LiveInstance instance, long bytes) {
    instance.budget.giveBack(bytes);
    host.budget.giveBack(bytes);
  }

  /**
   * Grants a lease whose bytes fit the budgets.
   *
   * @param ticketId the ticket that turns into it, 0 if none
   * @param bytes allocated bytes to charge
   */
  LiveLease grant(
      LiveSession session,
      String request,
      long ticketId,
      List<GroupLease> held,
      List<GroupAnswer> answers,
      long bytes) {
    long id = host.state.nextLeaseId();
    long ttlMicros = host.config.leaseTtlMillis() * 1_000;
    long expiresAtMicros = Math.max(host.clock.wallMicros(), host.state.atMicros()) + ttlMicros;
    charge(session.instance, bytes);
    host.emit(new LeaseGranted(id, session.id, request, ticketId, expiresAtMicros, held, answers));
    int blocks = 0;
    for (GroupLease group : held) {
      blocks += group.blocks().size();
    }
    LiveLease lease = new LiveLease(id, session, request, ticketId, blocks, bytes, expiresAtMicros);
    host.leases.put(id, lease);
    session.leases.add(lease);
    host.timers.arm(lease, host.clock.monotonicMicros() + ttlMicros);
    return lease;
  }

  void release(Release command) {
    LiveSession session = host.openSession(command);
    if (session == null) {
      return;
    }
    LiveLease lease = find(session, command.leaseId());
    if (lease != null) {
      end(lease, LeaseEnd.RELEASED);
    }
    host.reply(command.replyTo(), new Reply.Released(command.leaseId(), lease != null));
  }

  /** An open lease of the session's instance, null if there is none. */
  @Nullable LiveLease find(LiveSession session, long leaseId) {
    LiveLease lease = host.leases.get(leaseId);
    return lease == null || lease.session.instance != session.instance ? null : lease;
  }

  void expire(LiveLease lease) {
    end(lease, LeaseEnd.EXPIRED);
  }

  /** Ends an open lease. */
  void end(LiveLease lease, LeaseEnd reason) {
    host.emit(new LeaseReleased(lease.id, reason));
    host.timers.cancel(lease);
    host.leases.remove(lease.id);
    lease.session.leases.remove(lease);
    if (lease.ticketId != 0) {
      lease.session.forgetEnd(lease.ticketId);
    }
    lease.open = false;
    giveBackIfUnused(lease);
  }

  void restoreBegan(LiveLease lease) {
    lease.runningRestores++;
  }

  void restoreEnded(LiveLease lease) {
    lease.runningRestores--;
    giveBackIfUnused(lease);
  }

  private void giveBackIfUnused(LiveLease lease) {
    if (!lease.open && lease.runningRestores == 0) {
      giveBack(lease.session.instance, lease.chargedBytes);
    }
  }
}
