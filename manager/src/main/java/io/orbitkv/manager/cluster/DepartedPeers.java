package io.orbitkv.manager.cluster;

import io.orbitkv.catalog.membership.MemberRecord;
import io.orbitkv.catalog.membership.MemberSnapshot;
import io.orbitkv.core.Command;
import io.orbitkv.state.catalog.NodeId;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * Tells the loop of runs of other hosts that are there no more, so that it takes back what it
 * granted to them. Belongs to one thread.
 */
final class DepartedPeers {
  private final Predicate<Command> loop;
  private final Map<NodeId, UUID> known = new TreeMap<>();

  /**
   * @param loop hands a command to the loop; false if too many wait
   */
  DepartedPeers(Predicate<Command> loop) {
    this.loop = loop;
  }

  /** Compares with what was there before; what the loop could not take is told again. */
  void look(MemberSnapshot snapshot) {
    known
        .entrySet()
        .removeIf(
            before -> {
              UUID now = snapshot.member(before.getKey()).map(MemberRecord::runtime).orElse(null);
              return !before.getValue().equals(now)
                  && loop.test(new Command.PeerGone(before.getKey(), now));
            });
    snapshot.members().forEach((node, record) -> known.putIfAbsent(node, record.runtime()));
  }
}
