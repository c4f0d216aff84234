package io.orbitkv.journal;

import io.orbitkv.state.Effects;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Keys;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.ParallelShape;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.identity.StateComponent;
import io.orbitkv.state.identity.StateFormat;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;

/**
 * The facts of a small daemon with one engine: publishes, leases, restores, misses, evictions and
 * recorded digests, all of which fold. The same seed gives the same facts.
 */
final class Workload {
  static final int EXTENT_BYTES = 64 << 10;

  private final Random random;
  private final int poolBlocks;
  private final HostState state;
  private final Queue<HostEvent> ahead = new ArrayDeque<>();
  private long generation;
  private long sessionId;
  private long instanceId;
  private long oldestBlock;
  private long nextBlock;
  private int sinceDigest;

  /** Goes on from a state: begins a daemon run and ends what the one before left open. */
  Workload(long seed, int poolBlocks, HostState state) {
    this.random = new Random(seed);
    this.poolBlocks = poolBlocks;
    this.state = state;
    this.generation = state.nextExtentGeneration();
    this.nextBlock = state.nextBlockId();
    this.oldestBlock = nextBlock;
    begin();
  }

  HostState state() {
    return state;
  }

  private void begin() {
    ahead.add(
        new HostEvent.EpochStarted(
            state.epoch() + 1, "test", (long) poolBlocks * EXTENT_BYTES, "{}"));
    state
        .publishes()
        .forEach(
            open ->
                ahead.add(new HostEvent.PublishAborted(open.id(), HostEvent.AbortReason.RESTART)));
    state
        .restores()
        .forEach(
            open ->
                ahead.add(
                    new HostEvent.RestoreFinished(
                        open.id(), HostEvent.RestoreOutcome.RESTART, 0, 0)));
    state
        .leases()
        .forEach(
            open -> ahead.add(new HostEvent.LeaseReleased(open.id(), HostEvent.LeaseEnd.RESTART)));
    state
        .sessions()
        .forEach(
            open ->
                ahead.add(new HostEvent.SessionClosed(open.id(), HostEvent.SessionEnd.RESTART)));
    LongRanges sealed = sealedBlocks();
    if (!sealed.isEmpty()) {
      ahead.add(new HostEvent.BlocksEvicted(sealed, HostEvent.EvictionCause.RESTART, 0, ""));
    }
    if (state.namespaces().isEmpty()) {
      ahead.add(new HostEvent.NamespaceBound(state.nextNamespaceId(), "model", format(), 1));
    }
    instanceId =
        state.instances().isEmpty() ? state.nextInstanceId() : state.instances().getFirst().id();
    if (state.instances().isEmpty()) {
      ahead.add(new HostEvent.InstanceRegistered(instanceId, "engine", 1));
    }
    sessionId = state.nextSessionId();
    ahead.add(
        new HostEvent.SessionOpened(
            sessionId, instanceId, 0, HostEvent.SessionRole.LOAD, 4711, 1000, 0));
  }

  /** Those of a publish that is cut off go with it. */
  private LongRanges sealedBlocks() {
    LongRanges.Builder sealed = new LongRanges.Builder();
    state
        .liveBlockIds()
        .forEach(
            id -> {
              if (state.publishes().stream().noneMatch(open -> open.blocks().contains(id))) {
                sealed.add(id);
              }
            });
    return sealed.build();
  }

  static StateFormat format() {
    return new StateFormat(
        "sha256:0123456789abcdef",
        "engine-1",
        "bf16",
        "NHD",
        new ParallelShape(1, 1, 1, 8),
        List.of(
            new GroupSpec(
                0,
                StateComponent.ATTENTION_KV,
                64,
                new RecoveryRule.Prefix(),
                false,
                EXTENT_BYTES)));
  }

  /** The next fact, already applied to the state. */
  Fact next(long atMicros) {
    if (ahead.isEmpty()) {
      request();
    }
    HostEvent event = ahead.remove();
    Fact fact = new Fact(state.position() + 1, atMicros, event);
    state.apply(fact, Effects.NONE);
    if (++sinceDigest == 200) {
      sinceDigest = 0;
      List<HostEvent> rest = new ArrayList<>(ahead);
      ahead.clear();
      ahead.add(
          new HostEvent.DigestRecorded(state.digest(), state.liveBlocks(), state.openLeases()));
      ahead.addAll(rest);
    }
    return fact;
  }

  private void request() {
    String name = "request-%028x".formatted(random.nextLong());
    if (nextBlock == oldestBlock || random.nextInt(4) == 0) {
      publish(name);
    } else {
      query(name);
    }
  }

  private void publish(String name) {
    int count = 1 + random.nextInt(Math.min(24, poolBlocks / 4));
    long live = nextBlock - oldestBlock;
    if (live + count > poolBlocks) {
      int evicted = (int) (live + count - poolBlocks);
      ahead.add(
          new HostEvent.BlocksEvicted(
              LongRanges.of(oldestBlock, evicted),
              HostEvent.EvictionCause.CAPACITY,
              sessionId,
              name));
      oldestBlock += evicted;
    }
    byte[] keys = new byte[32 * count];
    random.nextBytes(keys);
    long[] offsets = new long[count];
    long[] generations = new long[count];
    long[] checksums = new long[count];
    for (int i = 0; i < count; i++) {
      offsets[i] = (nextBlock + i) % poolBlocks * EXTENT_BYTES;
      generations[i] = generation++;
      checksums[i] = random.nextLong();
    }
    long publishId = state.nextPublishId();
    ahead.add(
        new HostEvent.SlicesReserved(
            publishId,
            sessionId,
            name,
            0,
            0,
            LongRanges.of(nextBlock, count),
            nextBlock,
            Keys.ofPacked(32, keys),
            Longs.of(offsets),
            Longs.of(generations),
            EXTENT_BYTES));
    ahead.add(new HostEvent.SlicesPublished(publishId, Longs.of(checksums)));
    nextBlock += count;
  }

  private void query(String name) {
    int live = (int) (nextBlock - oldestBlock);
    int count = 1 + random.nextInt(Math.min(live, 48));
    LongRanges blocks = LongRanges.of(oldestBlock + random.nextInt(live - count + 1), count);
    if (random.nextInt(8) == 0) {
      ahead.add(
          new HostEvent.QueryMissed(
              sessionId, name, List.of(new GroupAnswer(0, count, 0, Keys.EMPTY, count))));
      return;
    }
    long leaseId = state.nextLeaseId();
    long restoreId = state.nextRestoreId();
    long bytes = (long) count * EXTENT_BYTES;
    ahead.add(
        new HostEvent.LeaseGranted(
            leaseId,
            sessionId,
            name,
            0,
            state.atMicros() + 30_000_000,
            List.of(new GroupLease(0, 0, blocks)),
            List.of(new GroupAnswer(0, count, count, Keys.EMPTY, 0))));
    ahead.add(new HostEvent.RestoreStarted(restoreId, sessionId, leaseId, count, bytes));
    ahead.add(
        new HostEvent.RestoreFinished(
            restoreId, HostEvent.RestoreOutcome.DONE, bytes, random.nextInt(5000)));
    ahead.add(new HostEvent.LeaseReleased(leaseId, HostEvent.LeaseEnd.RELEASED));
  }
}
