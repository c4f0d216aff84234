package io.orbitkv.manager.cluster;

import io.orbitkv.core.remote.GrantedRanges;
import io.orbitkv.core.remote.RemoteEvents;
import io.orbitkv.transfer.DrainProof;
import io.orbitkv.transfer.Grant;
import io.orbitkv.transfer.GrantTable;
import io.orbitkv.transfer.PoolRange;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The table that the transfer engine asks before it serves a byte, as the loop opens and revokes in
 * it. What has drained waits here until the loop takes it: at most one entry for each grant that
 * the loop has revoked.
 */
final class GrantedPool implements GrantedRanges {
  private final GrantTable table;
  private final Runnable wakeLoop;
  private final Queue<DrainProof> drained = new ConcurrentLinkedQueue<>();

  GrantedPool(GrantTable table, Runnable wakeLoop) {
    this.table = table;
    this.wakeLoop = wakeLoop;
  }

  @Override
  public Optional<Admission> open(List<Range> ranges, long validMillis) {
    return table
        .open(
            ranges.stream().map(range -> new PoolRange(range.offset(), range.bytes())).toList(),
            Duration.ofMillis(validMillis))
        .map(GrantedPool::admission);
  }

  private static Admission admission(Grant grant) {
    return new Admission(grant.id(), grant.secret().high(), grant.secret().low());
  }

  @Override
  public void revoke(UUID grantId) {
    var _ =
        table
            .revoke(grantId)
            .thenAccept(
                proof -> {
                  drained.add(proof);
                  wakeLoop.run();
                });
  }

  @Override
  public int poll(RemoteEvents events, int limit) {
    int told = 0;
    for (DrainProof proof; told < limit && (proof = drained.poll()) != null; told++) {
      events.drained(proof.grant(), proof.reads());
    }
    return told;
  }
}
