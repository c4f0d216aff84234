package io.orbitkv.state;

import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.Totals.Counter;
import java.util.HexFormat;
import java.util.Locale;

/** A state as a few lines of text, everything by ascending id. */
final class StateText {
  private StateText() {}

  static String print(HostState state) {
    StringBuilder text = new StringBuilder();
    for (BoundNamespace namespace : state.namespaces()) {
      text.append(namespace)
          .append(": shards=" + namespace.shardCount())
          .append(" instances=" + namespace.instances())
          .append(" blocks=" + namespace.blocks() + "\n");
    }
    for (OpenSession session : state.sessions()) {
      text.append(session)
          .append(": shard=" + session.shard())
          .append(session.supersededBy() == 0 ? "" : " superseded by " + session.supersededBy())
          .append("\n");
    }
    state.forEachBlock(slot -> printBlock(state, slot, text));
    for (OpenPublish publish : state.publishes()) {
      text.append("publish " + publish.id() + ": shard=" + publish.shard())
          .append(" blocks=" + publish.blocks() + "\n");
    }
    for (OpenTicket ticket : state.tickets()) {
      text.append("ticket " + ticket.id() + ": awaits " + ticket.awaited() + "\n");
    }
    for (OpenLease lease : state.leases()) {
      text.append("lease " + lease.id() + ": " + lease.blocks() + " blocks\n");
    }
    for (OpenRestore restore : state.restores()) {
      text.append("restore " + restore.id() + ": of lease " + restore.leaseId() + "\n");
    }
    for (OpenGrant grant : state.grants()) {
      text.append("grant " + grant.id() + ": " + grant.peer().node() + " " + grant.blocks() + "\n");
    }
    for (OpenRemoteRead read : state.remoteReads()) {
      text.append("remote read " + read.id() + ": " + read.owner().node() + " " + read.blocks())
          .append(read.quarantined() ? " in quarantine\n" : "\n");
    }
    return text.append(printTotals(state)).toString();
  }

  private static void printBlock(HostState state, int slot, StringBuilder text) {
    byte[] key = new byte[state.keyBytes(slot)];
    state.copyKey(slot, key, 0);
    text.append("block " + state.blockId(slot))
        .append(" group=" + state.groupId(slot))
        .append(" key=" + HexFormat.of().formatHex(key))
        .append(" " + state.blockState(slot).name().toLowerCase(Locale.ROOT))
        .append(" pins=" + state.pins(slot));
    for (int shard = 0; shard < state.slices(slot); shard++) {
      text.append(shard == 0 ? " slices=" : ",");
      if (!state.reserved(slot, shard)) {
        text.append("none");
      } else {
        text.append("@" + state.extentOffset(slot, shard));
        text.append(state.present(slot, shard) ? ":" + state.checksum(slot, shard) : ":copying");
      }
    }
    if (state.onSsd(slot)) {
      for (int shard = 0; shard < state.slices(slot); shard++) {
        text.append(shard == 0 ? " ssd=" : ",")
            .append(state.ssdFile(slot, shard) + "@" + state.ssdOffset(slot, shard));
      }
    }
    text.append("\n");
  }

  private static String printTotals(HostState state) {
    StringBuilder text = new StringBuilder("totals:");
    for (Counter counter : Counter.values()) {
      if (state.totals().get(counter) != 0) {
        text.append(" " + counter.name().toLowerCase(Locale.ROOT))
            .append("=" + state.totals().get(counter));
      }
    }
    for (EvictionCause cause : EvictionCause.values()) {
      if (state.totals().evictedBlocks(cause) != 0) {
        text.append(" evicted_" + cause.name().toLowerCase(Locale.ROOT))
            .append("=" + state.totals().evictedBlocks(cause));
      }
    }
    return text.append("\n").toString();
  }
}
