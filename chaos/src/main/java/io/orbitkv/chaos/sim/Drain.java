package io.orbitkv.chaos.sim;

import io.orbitkv.core.Command;
import io.orbitkv.core.Inspection;
import io.orbitkv.core.Inspection.StatusAnswer;
import io.orbitkv.state.HostEvent.SessionEnd;
import java.util.List;

/** The end of a run: everybody leaves, time passes, and then nothing may be held any more. */
final class Drain {
  private static final int ROUNDS = 6;
  private static final int MAX_TURNS = 10_000;

  private final Simulation simulation;
  private final Actions actions;
  private final Draws draws = new Draws(1);

  Drain(Simulation simulation, Actions actions) {
    this.simulation = simulation;
    this.actions = actions;
  }

  void run() {
    simulation.healDisk();
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
    finishCopies(); // the time that passed last may have begun a write anew
    actions.evict(new Command.EvictSelector.All());
    finishCopies();
    actions.status(this::check);
    simulation.rest();
  }

  private void finishCopies() {
    simulation.rest();
    for (int i = 0; simulation.waitingCopies() > 0 || simulation.diskBusy(); i++) {
      Violation.require(i < MAX_TURNS, Rule.RESTS, () -> "copies or the disk never come to an end");
      simulation.runCopy(0, 0, 0);
      simulation.disk(draws);
      simulation.rest();
    }
  }

  private static boolean empty(Inspection.SsdView ssd) {
    return ssd.usedBytes() == 0
        && ssd.extents() == 0
        && ssd.copiedBlocks() == 0
        && ssd.onlyBlocks() == 0
        && ssd.loadingBlocks() == 0
        && ssd.queuedBytes() == 0
        && ssd.loadingBytes() == 0
        && ssd.tasks() == 0;
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
            && status.pool().usedBytes() == 0
            && (status.ssd() == null || empty(status.ssd())),
        Rule.DRAINS,
        () -> "after everybody left: " + status);
  }
}
