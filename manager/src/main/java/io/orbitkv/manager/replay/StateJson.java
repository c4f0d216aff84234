package io.orbitkv.manager.replay;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Totals;
import io.orbitkv.state.Totals.Counter;
import java.util.function.ToLongFunction;

/** A state's figures as JSON. */
final class StateJson {
  private StateJson() {}

  static ObjectNode of(HostState state) {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    node.put("position", state.position());
    node.put("at", Times.iso(state.atMicros()));
    node.put("digest", Words.hex(state.digest()));
    node.put("epoch", state.epoch());
    node.put("running", state.running());
    node.put("poolBytes", state.poolBytes());
    node.put("extentBytes", state.extentBytes());
    node.put("extents", state.extents());
    node.put("sealedBlocks", state.sealedBlocks());
    node.put("reservedBlocks", state.reservedBlocks());
    node.put("ssdOnlyBlocks", state.ssdOnlyBlocks());
    node.put("evictedPinnedBlocks", state.evictedBlocks());
    node.put("instances", state.instances().size());
    node.put("sessions", state.sessions().size());
    node.put("openLeases", state.openLeases());
    node.put("openTickets", state.openTickets());
    node.put("openPublishes", state.openPublishes());
    node.put("openRestores", state.openRestores());
    node.set("totals", of(state.totals()));
    return node;
  }

  private static ObjectNode of(Totals totals) {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    for (Counter counter : Counter.values()) {
      node.put(Words.of(counter), totals.get(counter));
    }
    put(node, "evicted_blocks", HostEvent.EvictionCause.values(), totals::evictedBlocks);
    put(node, "publishes_aborted", HostEvent.AbortReason.values(), totals::publishesAborted);
    put(node, "leases_ended", HostEvent.LeaseEnd.values(), totals::leasesEnded);
    put(node, "tickets_closed", HostEvent.TicketEnd.values(), totals::ticketsClosed);
    put(node, "restores_finished", HostEvent.RestoreOutcome.values(), totals::restoresFinished);
    put(node, "sessions_closed", HostEvent.SessionEnd.values(), totals::sessionsClosed);
    put(node, "refusals", HostEvent.RefusalCategory.values(), totals::refusals);
    return node;
  }

  private static <E extends Enum<E>> void put(
      ObjectNode node, String name, E[] constants, ToLongFunction<E> count) {
    ObjectNode each = node.putObject(name);
    for (E constant : constants) {
      each.put(Words.of(constant), count.applyAsLong(constant));
    }
  }
}
