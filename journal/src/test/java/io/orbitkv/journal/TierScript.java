package io.orbitkv.journal;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.AdoptionFailure;
import io.orbitkv.state.HostEvent.CleanupReason;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.HostEvent.SsdEvictionCause;
import io.orbitkv.state.HostEvent.SsdSkip;
import io.orbitkv.state.HostEvent.TicketEnd;
import io.orbitkv.state.HostEvent.TierTrouble;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Keys;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntPredicate;

/**
 * Daemon runs on a host with an SSD tier, with or without a pool that outlives them: every kind of
 * fact that only such a host has. Each run but the first follows on a crash.
 */
final class TierScript {
  private static final int EXTENT_BYTES = 4 << 10;
  private static final int POOL_BLOCKS = 64;
  private static final int TIER_BLOCKS = 256;
  private static final int BLOCKS = 4;
  private static final int REQUESTS = 30;

  private final HostState state;
  private final boolean keepsPool;
  private final Consumer<HostEvent> emit;
  private long session;
  private long generation;
  private long ssdGeneration;

  /**
   * @param emit applies a fact to the state
   */
  TierScript(HostState state, boolean keepsPool, Consumer<HostEvent> emit) {
    this.state = state;
    this.keepsPool = keepsPool;
    this.emit = emit;
  }

  /** One run, up to its crash with a read under way. */
  void run() {
    generation = state.nextExtentGeneration();
    ssdGeneration = state.nextSsdGeneration();
    begin();
    for (int request = 0; request < REQUESTS; request++) {
      request("request-" + request, request);
    }
    load("cut-off", false);
  }

  private void begin() {
    long epoch = state.epoch() + 1;
    emit.accept(new HostEvent.EpochStarted(epoch, "test", (long) POOL_BLOCKS * EXTENT_BYTES, "{}"));
    state
        .remoteReads()
        .forEach(
            each ->
                emit.accept(
                    new HostEvent.RemoteReadEnded(
                        each.id(),
                        LongRanges.EMPTY,
                        Longs.EMPTY,
                        HostEvent.RemoteFailure.RESTART,
                        "",
                        0,
                        0,
                        0,
                        0)));
    state
        .grants()
        .forEach(
            each ->
                emit.accept(new HostEvent.GrantClosed(each.id(), HostEvent.GrantEnd.RESTART, 0)));
    state
        .tickets()
        .forEach(each -> emit.accept(new HostEvent.TicketClosed(each.id(), TicketEnd.RESTART, 0)));
    state
        .sessions()
        .forEach(each -> emit.accept(new HostEvent.SessionClosed(each.id(), SessionEnd.RESTART)));
    forAll(state::beingRead, ids -> new HostEvent.LoadFailed(ids, LoadFailure.RESTART, ""));
    emit.accept(new HostEvent.SsdTierOpened(7, 9, Longs.of((1L + TIER_BLOCKS) * EXTENT_BYTES)));
    if (keepsPool) {
      emit.accept(new HostEvent.PoolOpened(3, 5));
      forAll(state::sealed, HostEvent.BlocksKept::new);
    } else {
      forAll(
          slot -> state.sealed(slot) && state.onSsd(slot),
          ids -> new HostEvent.BlocksDemoted(ids, EvictionCause.RESTART, 0, ""));
      forAll(state::sealed, ids -> new HostEvent.BlocksEvicted(ids, EvictionCause.RESTART, 0, ""));
    }
    state
        .instances()
        .forEach(
            each -> emit.accept(new HostEvent.InstanceCleaned(each.id(), CleanupReason.RESTART)));
    if (epoch == 1) {
      emit.accept(new HostEvent.NamespaceBound(1, "model", Workload.format(), 1));
      emit.accept(new HostEvent.LayersBound(1, 0, 0, Longs.of(0, 1), Longs.of(1_024, 1_024)));
    }
    long instance = state.nextInstanceId();
    session = state.nextSessionId();
    emit.accept(new HostEvent.InstanceRegistered(instance, "engine", 1));
    emit.accept(new HostEvent.SessionOpened(session, instance, 0, SessionRole.LOAD, 1, 1, 0));
    verify();
  }

  /** Of the blocks that were kept, the first is damaged. */
  private void verify() {
    long[] kept = ids(state::unverified);
    if (kept.length > 0) {
      emit.accept(
          new HostEvent.BlocksNotAdopted(
              LongRanges.of(kept[0], 1), AdoptionFailure.CHECKSUM, "test"));
    }
    forAll(state::unverified, ids -> new HostEvent.BlocksAdopted(ids, 4_096L * ids.size(), 17));
  }

  private void request(String name, int number) {
    room(name);
    publish(name, number);
    if (number % 5 == 2) {
      load(name, true);
    }
    switch (number) {
      case 7 -> emit.accept(new HostEvent.TierDegraded(TierTrouble.DISK_FULL, "test"));
      case 9 -> emit.accept(new HostEvent.TierRecovered(TierTrouble.DISK_FULL));
      case 11 ->
          forAll(
              slot -> state.sealed(slot) && !state.onSsd(slot),
              ids -> new HostEvent.SsdSkipped(ids, SsdSkip.DISK_ILL));
      default -> {}
    }
  }

  /** The oldest blocks in memory, and on SSD, leave. */
  private void room(String name) {
    while (state.extents() + 2 * BLOCKS > POOL_BLOCKS) {
      LongRanges oldest = LongRanges.of(ids(state::sealed)[0], 1);
      emit.accept(
          state.onSsd(state.slotOf(oldest.first(0)))
              ? new HostEvent.BlocksDemoted(oldest, EvictionCause.CAPACITY, session, name)
              : new HostEvent.BlocksEvicted(oldest, EvictionCause.CAPACITY, session, name));
    }
    while (state.ssdExtents() + BLOCKS > 40) {
      emit.accept(
          new HostEvent.SsdEvicted(
              LongRanges.of(ids(state::onSsd)[0], 1), SsdEvictionCause.CAPACITY, session, name));
    }
  }

  private void publish(String name, int number) {
    long publish = state.nextPublishId();
    long first = state.nextBlockId();
    byte[] keys = new byte[16 * BLOCKS];
    Arrays.fill(keys, (byte) number);
    long[] files = new long[BLOCKS];
    long[] places = new long[BLOCKS];
    long[] ssdGenerations = new long[BLOCKS];
    long[] sums = new long[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
      keys[16 * i] = (byte) (first + i);
      keys[16 * i + 1] = (byte) ((first + i) >> 8);
      places[i] = (1 + (first + i) % TIER_BLOCKS) * EXTENT_BYTES;
      ssdGenerations[i] = ssdGeneration++;
      sums[i] = first * 31 + i;
    }
    LongRanges blocks = LongRanges.of(first, BLOCKS);
    emit.accept(
        new HostEvent.SlicesReserved(
            publish,
            session,
            name,
            0,
            0,
            blocks,
            first,
            Keys.ofPacked(16, keys),
            freePlaces(BLOCKS),
            generations(BLOCKS),
            EXTENT_BYTES));
    emit.accept(new HostEvent.SlicesPublished(publish, Longs.of(sums)));
    if (number % 4 != 3) {
      emit.accept(
          new HostEvent.SsdWritten(
              blocks, Longs.of(files), Longs.of(places), Longs.of(ssdGenerations)));
    }
  }

  /** A ticket waits for two blocks that lie on SSD only; of the two one may fail. */
  private void load(String name, boolean ends) {
    long[] demoted = ids(slot -> state.onSsd(slot) && !state.sealed(slot));
    if (demoted.length < 2) {
      return;
    }
    LongRanges good = LongRanges.of(demoted[0], 1);
    LongRanges bad = LongRanges.of(demoted[1], 1);
    LongRanges.Builder both = new LongRanges.Builder();
    both.add(demoted[0]).add(demoted[1]);
    long ticket = state.nextTicketId();
    emit.accept(new HostEvent.TicketOpened(ticket, session, name, both.build()));
    emit.accept(
        new HostEvent.BlocksLoading(
            both.build(), freePlaces(2), generations(2), ticket, session, name));
    if (!ends) {
      return;
    }
    emit.accept(new HostEvent.BlocksLoaded(good, 4_096, 17));
    emit.accept(new HostEvent.LoadFailed(bad, LoadFailure.CHECKSUM, "test"));
    long lease = state.nextLeaseId();
    emit.accept(
        new HostEvent.LeaseGranted(
            lease,
            session,
            name,
            ticket,
            1,
            List.of(new GroupLease(0, 0, good)),
            List.of(new GroupAnswer(0, 2, 1, Keys.EMPTY, 1))));
    emit.accept(new HostEvent.TicketClosed(ticket, TicketEnd.READY, lease));
    emit.accept(new HostEvent.LeaseReleased(lease, LeaseEnd.RELEASED));
  }

  private Longs generations(int count) {
    long[] numbers = new long[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = generation++;
    }
    return Longs.of(numbers);
  }

  /** Offsets in the pool that no block has. */
  private Longs freePlaces(int count) {
    boolean[] taken = new boolean[POOL_BLOCKS];
    state.forEachBlock(
        slot -> {
          if (state.reserved(slot, 0)) {
            taken[(int) (state.extentOffset(slot, 0) / EXTENT_BYTES)] = true;
          }
        });
    long[] places = new long[count];
    int found = 0;
    for (int place = 0; found < count; place++) {
      if (!taken[place]) {
        places[found++] = (long) place * EXTENT_BYTES;
      }
    }
    return Longs.of(places);
  }

  private long[] ids(IntPredicate wanted) {
    return Arrays.stream(state.slotsInOrder()).filter(wanted).mapToLong(state::blockId).toArray();
  }

  private void forAll(IntPredicate wanted, Function<LongRanges, HostEvent> fact) {
    LongRanges.Builder blocks = new LongRanges.Builder();
    for (long id : ids(wanted)) {
      blocks.add(id);
    }
    if (blocks.size() > 0) {
      emit.accept(fact.apply(blocks.build()));
    }
  }
}
