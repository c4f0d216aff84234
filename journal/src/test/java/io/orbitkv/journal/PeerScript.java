package io.orbitkv.journal;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.GrantEnd;
import io.orbitkv.state.HostEvent.GroupRead;
import io.orbitkv.state.HostEvent.RemoteFailure;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Keys;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import io.orbitkv.state.PeerId;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * What a daemon run has to do with other hosts, behind a {@link TierScript}'s run: every kind of
 * fact that only such a host has, with a grant and two reads that are open when it crashes.
 */
final class PeerScript {
  private static final PeerId PEER = new PeerId("host-b", 7, -9);
  private static final int EXTENT_BYTES = 4 << 10;

  private final HostState state;
  private final Consumer<HostEvent> emit;

  /**
   * @param emit applies a fact to the state
   */
  PeerScript(HostState state, Consumer<HostEvent> emit) {
    this.state = state;
    this.emit = emit;
  }

  void run() {
    emit.accept(new HostEvent.PlacementSeen(3, 2, List.of("host-a", "host-b")));
    for (GrantEnd reason : GrantEnd.values()) {
      long grant = grant();
      emit.accept(new HostEvent.GrantClosed(grant, reason, 2));
    }
    grant();
    long good = read(2);
    long first = Objects.requireNonNull(state.remoteRead(good)).blocks().first(0);
    emit.accept(
        new HostEvent.RemoteReadEnded(
            good,
            LongRanges.of(first, 1),
            Longs.of(77),
            RemoteFailure.CORRUPT,
            "a slice",
            1,
            2,
            EXTENT_BYTES,
            17));
    emit.accept(
        new HostEvent.BlocksEvicted(
            LongRanges.of(first, 1), HostEvent.EvictionCause.REQUESTED, 0, ""));
    long late = read(1);
    emit.accept(new HostEvent.RemoteReadQuarantined(late, RemoteFailure.DEADLINE, "test"));
    read(1);
  }

  private long grant() {
    int sealed =
        Arrays.stream(state.slotsInOrder()).filter(state::sealed).findFirst().orElseThrow();
    long id = state.nextGrantId();
    emit.accept(
        new HostEvent.GrantOpened(
            id,
            id,
            -id,
            PEER,
            LongRanges.of(state.blockId(sealed), 1),
            EXTENT_BYTES,
            Samples.AT_MICROS + 30_000_000));
    return id;
  }

  private long read(int blocks) {
    long id = state.nextRemoteReadId();
    long first = state.nextBlockId();
    byte[] keys = new byte[16 * blocks];
    long[] places = new long[blocks];
    long[] generations = new long[blocks];
    boolean[] taken = new boolean[(int) (state.poolBytes() / EXTENT_BYTES)];
    state.forEachBlock(
        slot -> {
          if (state.reserved(slot, 0)) {
            taken[(int) (state.extentOffset(slot, 0) / EXTENT_BYTES)] = true;
          }
        });
    int place = 0;
    for (int block = 0; block < blocks; block++, place++) {
      Arrays.fill(keys, 16 * block, 16 * block + 16, (byte) (100 + first + block));
      while (taken[place]) {
        place++;
      }
      places[block] = (long) place * EXTENT_BYTES;
      generations[block] = state.nextExtentGeneration() + block;
    }
    emit.accept(
        new HostEvent.RemoteReadBegun(
            id,
            PEER,
            1,
            List.of(new GroupRead(0, first, Keys.ofPacked(16, keys), Longs.of(EXTENT_BYTES))),
            Longs.of(places),
            Longs.of(generations),
            0,
            0,
            "cut-off"));
    return id;
  }
}
