package io.orbitkv.core;

import io.orbitkv.core.Command.CleanupInstance;
import io.orbitkv.core.Command.CloseSession;
import io.orbitkv.core.Reply.Refused;
import io.orbitkv.state.BoundNamespace;
import io.orbitkv.state.HostEvent.CleanupReason;
import io.orbitkv.state.HostEvent.InstanceCleaned;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.NamespaceUnbound;
import io.orbitkv.state.HostEvent.SessionClosed;
import io.orbitkv.state.HostEvent.SessionEnd;
import java.util.List;

/**
 * How sessions, instances and namespaces end. A session that ends gives its tickets and leases back
 * at once and then drains: only when no worker touches its pages any more is it closed (fact), its
 * pages unmapped, and, with the last session, its instance cleaned (fact).
 */
final class SessionDecisions {
  private final Host host;
  private final LeaseDecisions leases;
  private final TicketDecisions tickets;

  SessionDecisions(Host host, LeaseDecisions leases, TicketDecisions tickets) {
    this.host = host;
    this.leases = leases;
    this.tickets = tickets;
  }

  void close(CloseSession command) {
    LiveSession session = host.sessions.get(command.sessionId());
    if (session == null) {
      host.reply(command.replyTo(), new Reply.SessionClosed(command.sessionId()));
      return;
    }
    session.closeSinks.add(command.replyTo());
    beginEnd(session, command.reason());
    if (engineIsGone(command.reason()) && session.attachedTo == null && session.buffers != null) {
      session.buffers.buffers().engineGone();
    }
  }

  void cleanup(CleanupInstance command) {
    LiveInstance instance = host.instances.get(command.instance());
    if (command.bySessionId() != 0) {
      LiveSession by = host.sessions.get(command.bySessionId());
      if (by == null || !by.open() || by.instance != instance) {
        host.reply(
            command.replyTo(),
            new Refused(
                RefusalCode.SESSION_SUPERSEDED,
                "session %d is no open session of instance %s"
                    .formatted(command.bySessionId(), command.instance())));
        return;
      }
    }
    if (instance == null) {
      host.reply(command.replyTo(), new Reply.InstanceCleaned(0, 0, 0, 0));
      return;
    }
    instance.cleanupSinks.add(command.replyTo());
    cleanup(instance, CleanupReason.REQUESTED, SessionEnd.CLEANED);
  }

  /** Begins the end of every session of an instance; no session joins it from here on. */
  void cleanup(LiveInstance instance, CleanupReason reason, SessionEnd end) {
    if (instance.cleaning == null) {
      instance.cleaning = reason;
    }
    for (LiveSession session : instance.sessions) {
      if (session.open()) {
        instance.cleanedSessions++;
        instance.cleanedLeases += session.leases.size();
        instance.cleanedTickets += session.tickets.size();
      }
    }
    for (LiveSession session : List.copyOf(instance.sessions)) {
      beginEnd(session, end);
    }
  }

  /** Takes back what a session holds and stops what it runs; those attached to it end with it. */
  void beginEnd(LiveSession session, SessionEnd reason) {
    if (!session.open()) {
      return;
    }
    session.ending = reason;
    for (LiveTicket ticket : List.copyOf(session.tickets)) {
      tickets.endOfSession(ticket);
    }
    for (LiveLease lease : List.copyOf(session.leases)) {
      leases.end(lease, LeaseEnd.SESSION_CLOSED);
    }
    if (engineIsGone(reason)) {
      session.publishes.forEach(publish -> publish.copy().cancel());
      session.restores.forEach(restore -> restore.copy().cancel());
    }
    for (LiveSession other : List.copyOf(session.instance.sessions)) {
      if (other.attachedTo == session) {
        beginEnd(other, reason);
      }
    }
    host.ending.add(session);
  }

  /** Whether nobody will use the bytes; otherwise what runs is left to finish. */
  private static boolean engineIsGone(SessionEnd reason) {
    return switch (reason) {
      case DISCONNECTED, PROTOCOL_VIOLATION -> true;
      case UNREGISTERED, SUPERSEDED, CLEANED, SHUTDOWN, RESTART -> false;
    };
  }

  /** Whether neither the session nor those attached to it have a copy in flight. */
  boolean drainedWithAttached(LiveSession session) {
    for (LiveSession other : session.instance.sessions) {
      if (other.attachedTo == session && !other.drained()) {
        return false;
      }
    }
    return session.drained();
  }

  /** Closes an ending session that has drained; cleans its instance up if it was the last. */
  void close(LiveSession session) {
    SessionEnd reason = session.ending;
    if (reason == null || !session.drained()) {
      throw new IllegalStateException("session " + session.id + " is closed before it has drained");
    }
    for (LiveSession other : List.copyOf(session.instance.sessions)) {
      if (other.attachedTo == session) {
        close(other);
      }
    }
    LiveInstance instance = session.instance;
    host.emit(new SessionClosed(session.id, reason));
    host.ending.remove(session);
    host.placesFreed = true;
    host.sessions.remove(session.id);
    instance.sessions.remove(session);
    if (session.buffers != null) {
      session.buffers.removeUser();
    }
    host.tellClosed(session.id, reason);
    for (ReplySink sink : session.closeSinks) {
      host.reply(sink, new Reply.SessionClosed(session.id));
    }
    if (instance.sessions.isEmpty()) {
      clean(instance);
    }
  }

  private void clean(LiveInstance instance) {
    CleanupReason reason =
        instance.cleaning == null ? CleanupReason.LAST_SESSION_CLOSED : instance.cleaning;
    if (instance.budget.usedBytes() != 0) {
      throw new IllegalStateException(
          "instance %s ends with %d bytes charged"
              .formatted(instance.name, instance.budget.usedBytes()));
    }
    host.emit(new InstanceCleaned(instance.id, reason));
    host.instances.remove(instance.name);
    for (ReplySink sink : instance.cleanupSinks) {
      host.reply(
          sink,
          new Reply.InstanceCleaned(
              instance.id,
              instance.cleanedSessions,
              instance.cleanedLeases,
              instance.cleanedTickets));
    }
    if (!hasInstance(instance.namespace)) {
      host.orphans.add(instance.namespace);
    }
  }

  private boolean hasInstance(LiveNamespace namespace) {
    BoundNamespace bound = host.state.namespace(namespace.id);
    return bound != null && bound.instances() > 0;
  }

  /** Unbinds namespaces whose last block has gone too. */
  void unbindOrphans() {
    if (host.orphans.isEmpty()) {
      return;
    }
    for (LiveNamespace namespace : List.copyOf(host.orphans)) {
      BoundNamespace bound = host.state.namespace(namespace.id);
      if (bound != null && bound.blocks() == 0) {
        host.emit(new NamespaceUnbound(namespace.id));
        host.namespaces.remove(namespace.name.text());
        host.orphans.remove(namespace);
      }
    }
  }
}
