package io.orbitkv.manager.replay;

import io.orbitkv.journal.Journal;
import io.orbitkv.journal.JournalOptions;
import io.orbitkv.journal.Recovered;
import io.orbitkv.journal.Recovery;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.AbortReason;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Keys;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.ParallelShape;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.identity.StateComponent;
import io.orbitkv.state.identity.StateFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

/**
 * Writes a journal with the real writer, fact by fact, with a clock of its own: every fact is a
 * millisecond after the one before. It folds along, so a script that makes no sense fails at once.
 */
final class JournalScript implements AutoCloseable {
  /** 2026-11-30 12:00:00 UTC. */
  static final long NOON_MICROS = 1_796_040_000_000_000L;

  static final int EXTENT_BYTES = 64 << 10;
  static final long POOL_BYTES = 16L << 20;

  final HostState state;
  private final Journal journal;
  private final Deque<Long> freeOffsets = new ArrayDeque<>();
  private final long poolBytes;
  private long nowMicros;

  private JournalScript(HostState state, Journal journal, long poolBytes) {
    this.state = state;
    this.poolBytes = poolBytes;
    for (long offset = 0; offset < poolBytes; offset += EXTENT_BYTES) {
      freeOffsets.add(offset);
    }
    this.journal = journal;
    this.nowMicros = Math.max(NOON_MICROS, state.atMicros());
  }

  static JournalScript open(Path dir) throws IOException {
    return open(dir, JournalOptions.DEFAULT.withPartBytes(512 << 10), POOL_BYTES);
  }

  static JournalScript open(Path dir, JournalOptions options, long poolBytes) throws IOException {
    return switch (Recovery.open(dir, options, NOON_MICROS)) {
      case Recovered.Opened opened ->
          new JournalScript(opened.state(), opened.journal(), poolBytes);
      case Recovered.Refused refused -> throw new AssertionError(refused.toString());
    };
  }

  @Override
  public void close() {
    journal.close();
  }

  /** Lets time pass. */
  JournalScript pass(long micros) {
    nowMicros += micros;
    return this;
  }

  /** Appends a fact, and folds it. */
  long add(HostEvent event) {
    nowMicros += 1_000;
    awaitRoom();
    long position = journal.append(nowMicros, event);
    state.apply(
        new Fact(position, nowMicros, event),
        (offset, bytes, generation) -> freeOffsets.addLast(offset));
    return position;
  }

  private void awaitRoom() {
    long deadline = System.nanoTime() + 10_000_000_000L;
    while (!journal.hasRoom(1, 1 << 16)) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("no room: " + journal.stats());
      }
      Thread.onSpinWait();
    }
  }

  // ---- identity --------------------------------------------------------------------------------

  long epoch() {
    return add(new HostEvent.EpochStarted(state.epoch() + 1, "0.1.0", poolBytes, "{}"));
  }

  static StateFormat format(String dtype, int groups) {
    GroupSpec attention =
        new GroupSpec(
            0, StateComponent.ATTENTION_KV, 64, new RecoveryRule.Prefix(), false, EXTENT_BYTES);
    GroupSpec window =
        new GroupSpec(1, StateComponent.SWA, 64, new RecoveryRule.Window(128), true, EXTENT_BYTES);
    return new StateFormat(
        "sha256:0123",
        "engine-1",
        dtype,
        "NHD",
        new ParallelShape(1, 1, 1, 8),
        groups == 1 ? List.of(attention) : List.of(attention, window));
  }

  int bind(String namespace, String dtype, int groups, int shards) {
    int id = state.nextNamespaceId();
    add(new HostEvent.NamespaceBound(id, namespace, format(dtype, groups), shards));
    return id;
  }

  long register(String instance, int namespaceId) {
    long id = state.nextInstanceId();
    add(new HostEvent.InstanceRegistered(id, instance, namespaceId));
    return id;
  }

  long connect(long instanceId, int shard) {
    long id = state.nextSessionId();
    add(
        new HostEvent.SessionOpened(
            id, instanceId, shard, SessionRole.LOAD, 4_000 + (int) id, 1_000, 0));
    return id;
  }

  /** A namespace of one group and one shard with one engine: its session. */
  long engine() {
    epoch();
    return connect(register("vllm-0", bind("llama", "bf16", 1, 1)), 0);
  }

  // ---- publish ---------------------------------------------------------------------------------

  static Keys keys(String... names) {
    StringBuilder hex = new StringBuilder();
    for (String name : names) {
      hex.append(name).append("00".repeat(8 - name.length() / 2));
    }
    return names.length == 0 ? Keys.EMPTY : Keys.ofPacked(8, HexFormat.of().parseHex(hex));
  }

  int freeExtents() {
    return freeOffsets.size();
  }

  /** Reserves new blocks; the bytes are still to come. */
  long reserve(long session, String request, int group, int shard, Keys keys) {
    long first = state.nextBlockId();
    return reserve(session, request, group, shard, LongRanges.of(first, keys.size()), first, keys);
  }

  /** Adds a shard's slices to blocks that another one began. */
  long join(long session, String request, int shard, LongRanges blocks) {
    return reserve(session, request, 0, shard, blocks, 0, Keys.EMPTY);
  }

  private long reserve(
      long session,
      String request,
      int group,
      int shard,
      LongRanges blocks,
      long first,
      Keys keys) {
    long id = state.nextPublishId();
    long[] offsets = new long[blocks.size()];
    long[] generations = new long[blocks.size()];
    for (int i = 0; i < offsets.length; i++) {
      offsets[i] = freeOffsets.removeFirst();
      generations[i] = state.nextExtentGeneration() + i;
    }
    add(
        new HostEvent.SlicesReserved(
            id,
            session,
            request,
            group,
            shard,
            blocks,
            first,
            keys,
            Longs.of(offsets),
            Longs.of(generations),
            EXTENT_BYTES));
    return id;
  }

  long published(long publishId) {
    int blocks = Objects.requireNonNull(state.publish(publishId)).blocks().size();
    long[] sums = new long[blocks];
    for (int i = 0; i < blocks; i++) {
      sums[i] = 0x1000 + publishId * 100 + i;
    }
    return add(new HostEvent.SlicesPublished(publishId, Longs.of(sums)));
  }

  /** Reserves and publishes; the first block's id. */
  long publish(long session, String request, String... names) {
    long first = state.nextBlockId();
    long id = reserve(session, request, 0, 0, keys(names));
    pass(2_000);
    published(id);
    return first;
  }

  long abort(long publishId, AbortReason reason) {
    return add(new HostEvent.PublishAborted(publishId, reason));
  }

  long evict(long first, int count, EvictionCause cause, long session, String request) {
    return add(new HostEvent.BlocksEvicted(LongRanges.of(first, count), cause, session, request));
  }

  // ---- query -----------------------------------------------------------------------------------

  long miss(long session, String request, String... names) {
    return add(
        new HostEvent.QueryMissed(session, request, List.of(answer(0, names.length, 0, 0, names))));
  }

  static GroupAnswer answer(int group, int asked, int hit, int omitted, String... missing) {
    return new GroupAnswer(group, asked, hit, keys(missing), omitted);
  }

  long lease(long session, String request, LongRanges blocks, GroupAnswer... answers) {
    long id = state.nextLeaseId();
    add(
        new HostEvent.LeaseGranted(
            id,
            session,
            request,
            0,
            nowMicros + 30_000_000,
            List.of(new GroupLease(0, 0, blocks)),
            List.of(answers)));
    return id;
  }

  long release(long leaseId, LeaseEnd reason) {
    return add(new HostEvent.LeaseReleased(leaseId, reason));
  }

  long restore(long session, long lease, int blocks) {
    long id = state.nextRestoreId();
    add(new HostEvent.RestoreStarted(id, session, lease, blocks, (long) blocks * EXTENT_BYTES));
    return id;
  }

  long restored(long restoreId, HostEvent.RestoreOutcome outcome, long bytes) {
    return add(new HostEvent.RestoreFinished(restoreId, outcome, bytes, 850));
  }

  long digest() {
    return add(
        new HostEvent.DigestRecorded(state.digest(), state.liveBlocks(), state.openLeases()));
  }
}
