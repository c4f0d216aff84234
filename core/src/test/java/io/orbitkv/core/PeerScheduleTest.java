package io.orbitkv.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.TestLoop.Answers;
import io.orbitkv.core.remote.BlockGrant;
import io.orbitkv.core.remote.PeerRun;
import io.orbitkv.core.remote.PeerSettings;
import io.orbitkv.core.remote.RemoteCandidate;
import io.orbitkv.core.remote.RemoteLookup;
import io.orbitkv.core.remote.RemoteRead;
import io.orbitkv.core.remote.RemoteTier;
import io.orbitkv.core.remote.WantedBlock;
import io.orbitkv.core.ssd.SsdExtents;
import io.orbitkv.state.HostEvent.RemoteFailure;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Totals.RemoteCounter;
import io.orbitkv.state.identity.StateKey;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Two hosts in one schedule, each reading from the other, under drawn faults between them: answers
 * that are lost, late, given twice or wrong, evidence that is stale, grants that expire, bytes that
 * change on their way or come after the request has ended, pools and disks that are full, daemons
 * that stop. Every restored page must hold what was published under its key.
 */
class PeerScheduleTest {
  private static final int STEPS = 1_000;
  private static final int LETTERS = 24;
  private static final int ROUNDS = Integer.getInteger("orbitkv.rounds", 60);

  @Test
  void shouldHoldUnderAnySchedule() {
    Long given = Long.getLong("orbitkv.seed");
    long fetched = 0;
    long quarantined = 0;
    for (int round = 0; round < (given == null ? ROUNDS : 1); round++) {
      long seed = given == null ? System.nanoTime() + round : given;
      try {
        Schedule schedule = new Schedule(seed);
        schedule.run();
        for (Side side : schedule.sides) {
          fetched += side.loop.state.totals().get(RemoteCounter.FETCHED_BLOCKS);
          quarantined += side.loop.state.totals().get(RemoteCounter.QUARANTINES);
        }
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(
            "repeat: ./mvnw -pl core -am test -Dtest=PeerScheduleTest -Dorbitkv.seed=" + seed, e);
      }
    }
    if (given == null) {
      assertTrue(
          fetched > 4L * ROUNDS && quarantined > ROUNDS, fetched + " fetched, " + quarantined);
    }
  }

  /** One host, its engine, and what is under way from it. */
  private static final class Side {
    final FakePeers ports;
    final TestLoop loop;
    final FakeBuffers pages =
        FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES);
    final long session;
    final List<Answers> queries = new ArrayList<>();

    Side(String name, int number, boolean disk) {
      ports = new FakePeers(name, number);
      pages.realSums = true;
      int blockBytes = disk ? SsdExtents.ALIGNMENT_BYTES : Formats.EXTENT_BYTES;
      loop =
          TestLoop.withPeers(
              HostConfig.forPool(10L * blockBytes)
                  .inlineCopyBytes(0)
                  .leaseTtlMillis(300)
                  .globalBudgetBytes(1 << 30)
                  .instanceBudgetBytes(1 << 30)
                  .build(),
              new HostState(),
              new FakeClock(),
              disk ? new FakeSsd(number, 2, 8) : null,
              ports.peers(
                  new PeerSettings(
                      8L * blockBytes,
                      6L * blockBytes,
                      4,
                      100,
                      200,
                      8L * blockBytes,
                      6L * blockBytes,
                      3,
                      400,
                      100,
                      300)));
      for (int letter = 0; letter < LETTERS; letter++) {
        pages.fill(0, letter, 10 + letter);
      }
      session = loop.open("engine", pages);
    }
  }

  private static final class Schedule {
    final Random random;
    final List<Side> sides;

    /** Reads that were failed and end later. */
    final List<Runnable> late = new ArrayList<>();

    Schedule(long seed) {
      random = new Random(seed);
      sides = List.of(new Side("a", 1, random.nextBoolean()), new Side("b", 2, false));
    }

    void run() {
      for (int step = 0; step < STEPS; step++) {
        Side side = sides.get(random.nextInt(2));
        Side other = sides.get(side == sides.getFirst() ? 1 : 0);
        act(side, other);
        if (step % 50 == 0) {
          sides.forEach(each -> each.loop.check(new HostState()));
        }
      }
      settle();
    }

    private void act(Side side, Side other) {
      switch (random.nextInt(16)) {
        case 0, 1 -> publish(side);
        case 2, 3, 4 -> query(side);
        case 5, 6 -> lookup(side, other);
        case 7, 8, 9 -> read(side, other);
        case 10 -> {
          drainGrant(side);
          drainGrant(other);
        }
        case 11 -> {
          if (!late.isEmpty()) {
            late.remove(random.nextInt(late.size())).run();
          }
        }
        case 12 -> {
          side.loop.clock.advanceMillis(random.nextInt(120));
          side.loop.step();
        }
        case 13 -> restore(side);
        case 14 -> side.loop.drain();
        default -> rare(side, other);
      }
    }

    private int[] letters() {
      int first = 6 * random.nextInt(LETTERS / 6);
      int[] letters = new int[1 + random.nextInt(6)];
      for (int i = 0; i < letters.length; i++) {
        letters[i] = first + i;
      }
      return letters;
    }

    private void publish(Side side) {
      int[] letters = letters();
      side.loop.publish(side.session, "p", 0, TestLoop.numbered(letters), letters);
      if (random.nextInt(4) > 0) {
        side.loop.drain();
      }
    }

    private void query(Side side) {
      QueryMode mode = random.nextInt(4) == 0 ? QueryMode.PREPARE : QueryMode.WAIT;
      int[] letters = letters();
      Answers answers =
          side.loop.query(side.session, "q" + letters[0], mode, TestLoop.numbered(letters));
      if (mode == QueryMode.WAIT) {
        side.queries.add(answers);
      }
    }

    private void lookup(Side side, Side other) {
      if (side.ports.lookups.isEmpty()) {
        return;
      }
      RemoteLookup lookup = side.ports.lookups.removeFirst();
      for (int key = 0; key < lookup.keys().size() && random.nextInt(20) > 0; key++) {
        RemoteCandidate candidate = candidate(other, lookup.keys().get(key));
        lookup.found(key, candidate == null ? List.of() : List.of(candidate));
      }
      side.ports.events.add(to -> to.found(lookup));
      side.loop.step();
    }

    private @Nullable RemoteCandidate candidate(Side owner, StateKey key) {
      HostState state = owner.loop.state;
      byte[] hash = key.hash().toBytes();
      int slot = state.findSlot(1, key.group(), hash, 0, hash.length);
      long stale = random.nextInt(15) == 0 ? 1 : 0;
      if (slot >= 0 && state.sealed(slot)) {
        return new RemoteCandidate(
            owner.ports.run, RemoteTier.DRAM, state.extentGeneration(slot, 0) + stale);
      }
      return slot >= 0 && state.onSsd(slot)
          ? new RemoteCandidate(
              owner.ports.run, RemoteTier.SSD, state.ssdGeneration(slot, 0) + stale)
          : null;
    }

    private void read(Side side, Side other) {
      if (side.ports.reads.isEmpty()) {
        return;
      }
      RemoteRead read = side.ports.reads.remove(random.nextInt(side.ports.reads.size()));
      if (random.nextInt(8) == 0) {
        lost(side, read);
        return;
      }
      PeerRun reader = side.ports.run;
      Answers answers = new Answers();
      other.loop.commands.add(
          new Command.AuthorizeGrant(
              reader,
              read.owner().runtime(),
              read.format(),
              read.blocks().stream()
                  .map(block -> new WantedBlock(block.key(), block.tier(), block.generation()))
                  .toList(),
              1 + random.nextInt(600),
              answers));
      other.loop.step();
      if (answers.replies.isEmpty() && random.nextBoolean()) {
        other.loop.drain();
      }
      if (answers.replies.isEmpty() || !(answers.last() instanceof Reply.Granted granted)) {
        read.failed(RemoteFailure.REFUSED, answers.replies.toString());
        end(side, read);
        return;
      }
      read.granted(granted.admission().id());
      boolean lie = random.nextInt(10) == 0;
      boolean stops = random.nextInt(10) == 0;
      for (int block = 0; block < granted.blocks().size(); block++) {
        if (granted.blocks().get(block)
            instanceof BlockGrant.Given(List<BlockGrant.Slice> slices)) {
          BlockGrant.Slice at = slices.getFirst();
          read.given(block, new long[] {at.bytes()}, new long[] {at.checksum()});
          if (stops && block > 0) {
            continue;
          }
          read.destination(block, 0).copyFrom(other.loop.pool.asSlice(at.poolOffset(), at.bytes()));
          if (lie) {
            read.destination(block, 0).set(ValueLayout.JAVA_BYTE, random.nextInt(50), (byte) 77);
          }
          read.verify(block, 0);
        }
      }
      release(other, reader, granted);
      if (random.nextInt(6) == 0) {
        lost(side, read);
      } else {
        end(side, read);
      }
    }

    private void release(Side owner, PeerRun reader, Reply.Granted granted) {
      int times = random.nextInt(8) == 0 ? 0 : 1 + random.nextInt(2);
      for (int i = 0; i < times; i++) {
        owner.loop.send(new Command.ReleaseGrant(reader, granted.admission().id(), new Answers()));
      }
    }

    /** The read ends some time later, perhaps after it was told to have failed. */
    private void lost(Side side, RemoteRead read) {
      if (random.nextBoolean()) {
        read.failed(RemoteFailure.PEER_LOST, "test");
        side.ports.events.add(to -> to.failed(read));
        side.loop.step();
      }
      late.add(() -> end(side, read));
    }

    private static void end(Side side, RemoteRead read) {
      side.ports.events.add(to -> to.ended(read));
      side.loop.step();
    }

    private void drainGrant(Side side) {
      if (!side.ports.revoked.isEmpty()) {
        side.ports.drain(random.nextInt(side.ports.revoked.size()));
        side.loop.step();
      }
    }

    private void restore(Side side) {
      if (side.queries.isEmpty()) {
        return;
      }
      Answers query = side.queries.remove(random.nextInt(side.queries.size()));
      if (!query.replies.isEmpty() && query.last() instanceof Reply.Ready ready) {
        int pages = ready.boundaryToken() / Formats.PAGE;
        int[] targets = new int[pages];
        for (int i = 0; i < pages; i++) {
          targets[i] = 100 + i;
        }
        Answers restored = side.loop.restore(side.session, ready.leaseId(), 0, targets);
        side.loop.drain();
        if (restored.last() instanceof Reply.Restored) {
          int first = side.pages.read(0, 100);
          for (int i = 0; i < pages; i++) {
            assertEquals(first + i, side.pages.read(0, 100 + i), "page " + i + " of " + first);
          }
        }
        side.loop.release(side.session, ready.leaseId());
      }
    }

    private void rare(Side side, Side other) {
      switch (random.nextInt(6)) {
        case 0 -> side.loop.send(new Command.Evict(new Command.EvictSelector.All(), new Answers()));
        case 1 -> {
          side.loop.commands.add(new Command.PeerGone(other.ports.run.node(), null));
          side.loop.step();
        }
        case 2 -> side.ports.open = random.nextInt(4) > 0;
        case 3 -> side.ports.takesReads = random.nextInt(4) > 0;
        case 4 -> side.ports.maxGrants = 1 + random.nextInt(5);
        default -> {
          if (!side.queries.isEmpty()
              && side.queries.getLast().replies.getFirst() instanceof Reply.Loading loading) {
            side.loop.cancelTicket(side.session, loading.ticketId());
          }
        }
      }
    }

    /** Everything ends, and nothing may be left. */
    private void settle() {
      for (Side side : sides) {
        side.loop.close(side.session, SessionEnd.UNREGISTERED);
      }
      for (int round = 0; round < 10; round++) {
        for (Side side : sides) {
          side.loop.drain();
          side.loop.clock.advanceMillis(1_000);
          side.loop.step();
          while (!side.ports.reads.isEmpty()) {
            RemoteRead read = side.ports.reads.removeFirst();
            read.failed(RemoteFailure.CANCELLED, "test");
            end(side, read);
          }
          while (!side.ports.revoked.isEmpty()) {
            side.ports.drain(0);
          }
          side.loop.step();
        }
        late.forEach(Runnable::run);
        late.clear();
      }
      for (Side side : sides) {
        side.loop.drain();
        side.loop.check(new HostState());
        side.loop.checkIdle();
      }
    }
  }
}
