package io.orbitkv.core;

import io.orbitkv.core.remote.GrantedRanges;
import io.orbitkv.core.remote.PeerRun;
import io.orbitkv.core.remote.PeerSettings;
import io.orbitkv.core.remote.Peers;
import io.orbitkv.core.remote.RemoteBlocks;
import io.orbitkv.core.remote.RemoteEvents;
import io.orbitkv.core.remote.RemoteLookup;
import io.orbitkv.core.remote.RemoteRead;
import io.orbitkv.state.catalog.NodeId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

/** The ports to other hosts in a test's hands: nothing is answered and nothing drains by itself. */
final class FakePeers implements RemoteBlocks, GrantedRanges {
  final PeerRun run;
  final List<RemoteLookup> lookups = new ArrayList<>();
  final List<RemoteRead> reads = new ArrayList<>();
  final Map<UUID, List<Range>> live = new LinkedHashMap<>();
  final List<UUID> revoked = new ArrayList<>();
  final ArrayDeque<Consumer<RemoteEvents>> events = new ArrayDeque<>();
  boolean open = true;
  boolean takesReads = true;
  int maxGrants = 100;
  private long nextGrant = 1;

  FakePeers(String node, int number) {
    run = new PeerRun(new NodeId(node), new UUID(number, number), 1);
  }

  Peers peers(PeerSettings settings) {
    return new Peers(settings, run.runtime(), this, this);
  }

  @Override
  public boolean open() {
    return open;
  }

  @Override
  public boolean lookup(RemoteLookup lookup) {
    return lookups.add(lookup);
  }

  @Override
  public boolean read(RemoteRead read) {
    return takesReads && reads.add(read);
  }

  @Override
  public Optional<Admission> open(List<Range> ranges, long validMillis) {
    if (live.size() >= maxGrants) {
      return Optional.empty();
    }
    UUID id = new UUID(run.runtime().getMostSignificantBits(), nextGrant++);
    live.put(id, List.copyOf(ranges));
    return Optional.of(new Admission(id, 3, 4));
  }

  @Override
  public void revoke(UUID grantId) {
    revoked.add(grantId);
  }

  /** Nothing reads under a revoked grant any more. */
  void drain(int index) {
    UUID id = revoked.remove(index);
    live.remove(id);
    events.add(to -> to.drained(id, 1));
  }

  @Override
  public int poll(RemoteEvents to, int limit) {
    int told = 0;
    for (Consumer<RemoteEvents> event; told < limit && (event = events.poll()) != null; told++) {
      event.accept(to);
    }
    return told;
  }
}
