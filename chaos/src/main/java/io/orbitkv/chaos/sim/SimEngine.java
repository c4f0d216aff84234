package io.orbitkv.chaos.sim;

import io.orbitkv.state.HostEvent.SessionRole;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The engine of one shard of an instance: what it believes to hold, right or wrong. */
final class SimEngine {
  final int index;
  final Deployment deployment;
  final int shard;

  /** Sessions that it takes for open. */
  final Map<SessionRole, SimSession> current = new EnumMap<>(SessionRole.class);

  /** When the loop last took a registration of it, by role. */
  final Map<SessionRole, Long> registered = new EnumMap<>(SessionRole.class);

  /** Tickets it was told of and the session that asked, oldest first. */
  final List<Ticket> tickets = new ArrayList<>();

  /** Tickets that somebody wanted to end: they end for all that found them. */
  final Set<Long> cancelledTickets = new HashSet<>();

  /** A pending query. */
  record Ticket(long id, SimSession session, Call call) {}

  SimEngine(int index, Deployment deployment, int shard) {
    this.index = index;
    this.deployment = deployment;
    this.shard = shard;
  }

  ModelPlan model() {
    return deployment.model;
  }

  /** A session through which pages can be read and written, null if it has none. */
  @Nullable SimSession withPages(Draws draws) {
    SimSession save = current.get(SessionRole.SAVE);
    return save != null && draws.oneIn(2) ? save : current.get(SessionRole.LOAD);
  }

  /** Any session, null if it has none. */
  @Nullable SimSession any(Draws draws) {
    return current.isEmpty() ? null : draws.pick(List.copyOf(current.values()));
  }

  @Override
  public String toString() {
    return deployment.instance + "." + shard;
  }
}
