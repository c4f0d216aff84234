package io.orbitkv.chaos.sim;

import io.orbitkv.core.Command;
import io.orbitkv.core.Inspection.StatusAnswer;
import io.orbitkv.state.HostEvent.SessionEnd;
import java.util.List;

/** The end of a run: everybody leaves, time passes, and then nothing may be held any more. */
final class Drain {
  private static final int ROUNDS = 6;

  private final Simulation simulation;
  private final Actions actions;

  Drain(Simulation simulation, Actions actions) {
    this.simulation = simulation;
    this.actions = actions;
  }

  void run() {
    for (int round = 0; round < ROUNDS; round++) {
      finishCopies();
      if (simulation.isStopping()) {
        simulation.awaitEnd();
      }
      for (Deployment deployment : simulation.world.deployments()) {
        for (SimSession session : List.copyOf(deployment.sessions)) {
          if (!session.ended) {
            actions.close(session, SessionEnd.UNREGISTERED);
          }
        }
      }
      finishCopies();
      simulation.clock.advanceMicros(5_000_000);
      simulation.rest();
    }
    actions.evict(new Command.EvictSelector.All());
    simulation.rest();
    actions.status(this::check);
    simulation.rest();
  }

  private void finishCopies() {
    simulation.rest();
    while (simulation.waitingCopies() > 0) {
      simulation.runCopy(0, 0, 0);
      simulation.rest();
    }
  }

  private void check(StatusAnswer status) {
    Violation.require(
        status.sessions() == 0
            && status.instances() == 0
            && status.namespaces() == 0
            && status.blocks() == 0
            && status.openLeases() == 0
            && status.openTickets() == 0
            && status.openPublishes() == 0
            && status.openRestores() == 0
            && status.budgetUsedBytes() == 0
            && status.pool().usedBytes() == 0,
        Rule.DRAINS,
        () -> "after everybody left: " + status);
  }
}
