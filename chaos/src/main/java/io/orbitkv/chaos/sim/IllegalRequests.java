package io.orbitkv.chaos.sim;

import io.orbitkv.core.Command;
import io.orbitkv.core.Command.GroupKeys;
import io.orbitkv.core.Command.GroupTarget;
import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.Reply;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.Keys;
import java.util.List;

/** Requests that no correct engine sends. Each is refused and changes nothing. */
final class IllegalRequests {
  private final Simulation simulation;

  IllegalRequests(Simulation simulation) {
    this.simulation = simulation;
  }

  void send(SimEngine engine, Draws draws) {
    SimSession session = engine.any(draws);
    if (session == null) {
      return;
    }
    ModelPlan model = engine.model();
    int groupId = model.groups().getFirst().spec().groupId();
    int page = model.groups().getFirst().page();
    Keys keys = model.keys(draws.below(ModelPlan.PROMPTS), 0, 0, 2 * page);
    List<LeaseView> leases = engine.deployment.leases;
    long lease = leases.isEmpty() ? 1 : leases.getLast().id;
    switch (draws.below(9)) {
      case 0 -> publish(session, groupId, keys, 0, SimPages.BLOCKS);
      case 1 -> publish(session, groupId, keys, 0, -1);
      case 2 -> publish(session, groupId, keys, 0);
      case 3 -> publish(session, 77, keys, 0, 1);
      case 4 -> query(session, 1, List.of(new GroupKeys(groupId, keys)));
      case 5 -> query(session, 0, List.of());
      case 6 -> restore(session, lease, new GroupTarget(groupId, 0, new int[] {3, 3}));
      case 7 -> restore(session, lease, new GroupTarget(groupId, 1, new int[] {3}));
      default -> {
        Call call = call(session, "registers as a shard that there is not");
        simulation.send(
            engine.index,
            new Command.Register(
                engine.deployment.instance,
                model.namespace(),
                model.format(),
                model.shards(),
                model.shards(),
                SessionRole.LOAD,
                1,
                1,
                0,
                null,
                call),
            call);
      }
    }
  }

  private void publish(SimSession session, int groupId, Keys keys, int... sources) {
    Call call = call(session, "publishes what it may not");
    simulation.send(
        session.engine.index,
        new Command.Publish(session.id, "illegal", groupId, keys, sources, call),
        call);
  }

  private void query(SimSession session, int start, List<GroupKeys> groups) {
    Call call = call(session, "asks what it may not");
    simulation.send(
        session.engine.index,
        new Command.Query(session.id, "illegal", start, 0, groups, QueryMode.LEASE, 0, false, call),
        call);
  }

  private void restore(SimSession session, long lease, GroupTarget target) {
    Call call = call(session, "restores what it may not");
    simulation.send(
        session.engine.index,
        new Command.Restore(session.id, "illegal", lease, List.of(target), false, null, call),
        call);
  }

  private Call call(SimSession session, String what) {
    Call call =
        new Call(
            simulation,
            () -> session + " " + what,
            session,
            reply ->
                Violation.require(
                    reply instanceof Reply.Refused,
                    Rule.REFUSAL_CHANGES,
                    () -> session + " " + what + " -> " + Transcript.text(reply)));
    call.whenHandled = () -> call.mustWork = false;
    return call;
  }
}
