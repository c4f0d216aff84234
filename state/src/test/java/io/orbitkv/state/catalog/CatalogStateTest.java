package io.orbitkv.state.catalog;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.SeededTries;
import io.orbitkv.state.catalog.CatalogCommand.CaughtUp;
import io.orbitkv.state.catalog.CatalogCommand.CommitHandoff;
import io.orbitkv.state.catalog.CatalogCommand.FenceOwner;
import io.orbitkv.state.catalog.CatalogCommand.ForgetOwner;
import io.orbitkv.state.catalog.CatalogCommand.Found;
import io.orbitkv.state.catalog.CatalogCommand.OpenStream;
import io.orbitkv.state.catalog.CatalogCommand.PrepareHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RetireHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RollBackHandoff;
import io.orbitkv.state.catalog.Handoff.Step;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CatalogStateTest {
  private static final List<NodeId> HOSTS = RendezvousTest.hosts(5);
  private static final List<NodeId> ABC = HOSTS.subList(0, 3);
  private static final List<NodeId> ABD = List.of(HOSTS.get(0), HOSTS.get(1), HOSTS.get(3));
  private static final UUID RUN = new UUID(7, 1);
  private static final UUID NEXT_RUN = new UUID(7, 2);

  private final CatalogState state = new CatalogState(3);

  @Test
  void shouldHandOffStepByStepAndTellThePlacementThatIsInForce() {
    accepted(new Found(ABC), 1, ABC);
    accepted(new PrepareHandoff(1, 0, ABD), 1, ABC);
    refused(new CommitHandoff(1), CatalogRefusal.NOT_CAUGHT_UP);
    refused(new RetireHandoff(1), CatalogRefusal.NOT_COMMITTED);
    accepted(new CaughtUp(1), 1, ABC);
    accepted(new CommitHandoff(1), 2, ABD);
    assertEquals(new Handoff(1, Step.COMMITTED, ABD, ABC), state.handoff());
    refused(new PrepareHandoff(1, 1, ABC), CatalogRefusal.OLD_GENERATION);
    refused(new PrepareHandoff(2, 1, ABC), CatalogRefusal.HANDOFF_OPEN);
    accepted(new RetireHandoff(1), 2, ABD);
    assertNull(state.handoff());
    accepted(new PrepareHandoff(2, 1, ABC), 2, ABD);
    assertEquals(6, state.position());
  }

  @Test
  void shouldDoNothingTwice() {
    List<CatalogCommand> steps =
        List.of(
            new Found(ABC),
            new PrepareHandoff(1, 0, ABD),
            new CaughtUp(1),
            new CommitHandoff(1),
            new RetireHandoff(1),
            new OpenStream(HOSTS.get(0), RUN, 1),
            new FenceOwner(HOSTS.get(0), 1),
            new ForgetOwner(HOSTS.get(0), 1));
    for (CatalogCommand step : steps) {
      CatalogAnswer first = state.apply(step);
      byte[] bytes = CatalogSnapshot.write(state);
      assertEquals(first, state.apply(step), step.toString());
      assertArrayEquals(bytes, CatalogSnapshot.write(state), step.toString());
    }
  }

  @Test
  void shouldRollBackUntilTheCommitAndNotAfterIt() {
    state.apply(new Found(ABC));
    state.apply(new PrepareHandoff(1, 0, ABD));
    accepted(new RollBackHandoff(1), 1, ABC);
    accepted(new RollBackHandoff(1), 1, ABC);
    assertNull(state.handoff());
    state.apply(new PrepareHandoff(1, 1, ABD));
    state.apply(new CaughtUp(2));
    state.apply(new CommitHandoff(2));
    refused(new RollBackHandoff(2), CatalogRefusal.COMMITTED_ALREADY);
    accepted(new RetireHandoff(2), 2, ABD);
  }

  @Test
  void shouldTakeNothingThatWasSaidOfAnEarlierAttempt() {
    state.apply(new Found(ABC));
    state.apply(new PrepareHandoff(1, 0, ABD));
    state.apply(new RollBackHandoff(1));
    refused(new PrepareHandoff(1, 0, ABD), CatalogRefusal.OLD_ATTEMPT);
    state.apply(new PrepareHandoff(1, 1, ABD));
    refused(new CaughtUp(1), CatalogRefusal.OLD_ATTEMPT);
    refused(new CommitHandoff(1), CatalogRefusal.OLD_ATTEMPT);
    refused(new RollBackHandoff(1), CatalogRefusal.OLD_ATTEMPT);
    refused(new CommitHandoff(2), CatalogRefusal.NOT_CAUGHT_UP);
    refused(new CaughtUp(3), CatalogRefusal.UNKNOWN_ATTEMPT);
  }

  @Test
  void shouldCallTheSameHostsInAnotherOrderNoMove() {
    List<NodeId> cba = List.of(HOSTS.get(2), HOSTS.get(1), HOSTS.get(0));
    accepted(new Found(ABC), 1, ABC);
    accepted(new Found(cba), 1, ABC);
    refused(new PrepareHandoff(1, 0, cba), CatalogRefusal.NOTHING_TO_MOVE);
    refused(
        new Found(List.of(HOSTS.get(0), HOSTS.get(0), HOSTS.get(1))),
        CatalogRefusal.FOUNDED_OTHERWISE);
  }

  @Test
  void shouldLetOnlyTheNewestRunOfAnOwnerStream() {
    NodeId owner = HOSTS.get(4);
    state.apply(new Found(ABC));
    state.apply(new OpenStream(owner, RUN, 4));
    refused(new OpenStream(owner, NEXT_RUN, 4), CatalogRefusal.EPOCH_TAKEN);
    refused(new OpenStream(owner, NEXT_RUN, 3), CatalogRefusal.OLD_EPOCH);
    accepted(new OpenStream(owner, NEXT_RUN, 5), 1, ABC);
    accepted(new FenceOwner(owner, 4), 1, ABC);
    assertEquals(new OwnerStream(NEXT_RUN, 5, false), state.owners().get(owner));
    refused(new FenceOwner(owner, 6), CatalogRefusal.UNKNOWN_RUN);
    refused(new FenceOwner(HOSTS.get(3), 1), CatalogRefusal.UNKNOWN_RUN);
    refused(new ForgetOwner(owner, 5), CatalogRefusal.NOT_FENCED);
    accepted(new FenceOwner(owner, 5), 1, ABC);
    refused(new OpenStream(owner, NEXT_RUN, 5), CatalogRefusal.OLD_EPOCH);
    refused(new ForgetOwner(owner, 4), CatalogRefusal.OLD_EPOCH);
    accepted(new OpenStream(owner, RUN, 6), 1, ABC);
    accepted(new FenceOwner(owner, 6), 1, ABC);
    accepted(new ForgetOwner(owner, 6), 1, ABC);
    assertTrue(state.owners().isEmpty());
  }

  @Test
  void shouldKnowSoManyOwnersAndForgetFencedOnesForNewOnes() {
    state.apply(new Found(ABC));
    for (int i = 0; i < CatalogState.MAX_OWNERS; i++) {
      accepted(new OpenStream(new NodeId("owner-" + i), RUN, 1), 1, ABC);
    }
    NodeId late = new NodeId("late");
    refused(new OpenStream(late, RUN, 1), CatalogRefusal.TOO_MANY_OWNERS);
    accepted(new OpenStream(new NodeId("owner-7"), NEXT_RUN, 2), 1, ABC);
    accepted(new FenceOwner(new NodeId("owner-9"), 1), 1, ABC);
    accepted(new OpenStream(late, RUN, 1), 1, ABC);
    assertNull(state.owners().get(new NodeId("owner-9")));
    assertEquals(CatalogState.MAX_OWNERS, state.owners().size());
  }

  @Test
  void shouldRefuseMembersThatAreNoPlacement() {
    refused(new PrepareHandoff(1, 0, ABC), CatalogRefusal.NOT_FOUNDED);
    refused(new CommitHandoff(1), CatalogRefusal.NOT_FOUNDED);
    refused(new Found(List.of()), CatalogRefusal.BAD_MEMBERS);
    refused(new Found(List.of(HOSTS.get(0), HOSTS.get(0))), CatalogRefusal.BAD_MEMBERS);
    refused(new Found(RendezvousTest.hosts(16)), CatalogRefusal.BAD_MEMBERS);
    accepted(new Found(ABC), 1, ABC);
    refused(new Found(ABD), CatalogRefusal.FOUNDED_OTHERWISE);
    refused(new PrepareHandoff(1, 0, ABC), CatalogRefusal.NOTHING_TO_MOVE);
    refused(new PrepareHandoff(2, 0, ABD), CatalogRefusal.UNKNOWN_GENERATION);
    refused(new PrepareHandoff(1, 1, ABD), CatalogRefusal.UNKNOWN_ATTEMPT);
    assertEquals(1, state.position());
  }

  @Test
  void shouldAgreeWithALiteralModelOnEveryCommand() {
    SeededTries.run(
        200,
        random -> {
          CatalogState live = new CatalogState(9);
          ModelCatalog model = new ModelCatalog();
          List<CatalogCommand> sent = new ArrayList<>();
          Map<Long, List<NodeId>> everPlaced = new HashMap<>();
          for (int i = 0; i < 120; i++) {
            CatalogCommand command = command(random, live, sent);
            String expected = model.take(command);
            long before = live.position();
            CatalogAnswer answer = live.apply(command);
            String found =
                switch (answer) {
                  case CatalogAnswer.Accepted(long position, var _) ->
                      position == before ? "nothing left to do" : "changes";
                  case CatalogAnswer.Refused(var reason, var _) -> reason.name();
                };
            assertEquals(expected, found, command.toString());
            assertEquals(model.changes(), live.position());
            Placement placement = live.placement();
            if (placement != null) {
              List<NodeId> other =
                  everPlaced.putIfAbsent(placement.generation(), placement.members());
              assertTrue(other == null || other.equals(placement.members()), "two placements");
              assertEquals(model.placements().getLast(), placement.members());
            }
            if (random.nextInt(10) == 0) {
              live = reread(live);
            }
          }
        });
  }

  /** Some command; one in three was sent before and comes again, late and out of order. */
  private static CatalogCommand command(
      Random random, CatalogState state, List<CatalogCommand> sent) {
    if (!sent.isEmpty() && random.nextInt(3) == 0) {
      return sent.get(random.nextInt(sent.size()));
    }
    CatalogCommand fresh = fresh(random, state);
    sent.add(fresh);
    return fresh;
  }

  private static CatalogCommand fresh(Random random, CatalogState state) {
    Placement now = state.placement();
    Handoff open = state.handoff();
    long generation = (now == null ? 0 : now.generation()) + (random.nextInt(8) == 0 ? -1 : 0);
    long attempt = state.lastAttempt() + (random.nextInt(8) == 0 ? random.nextInt(3) - 1 : 0);
    List<NodeId> any = new ArrayList<>(HOSTS.subList(random.nextInt(2), 3 + random.nextInt(2)));
    List<NodeId> target = open != null && random.nextInt(4) > 0 ? open.target() : any;
    NodeId owner = HOSTS.get(random.nextInt(2));
    long epoch = random.nextInt(5);
    return switch (random.nextInt(11)) {
      case 0 -> new Found(random.nextInt(6) == 0 ? List.of() : any);
      case 1, 2 -> new PrepareHandoff(generation, attempt - random.nextInt(2), target);
      case 3, 4 -> new CaughtUp(attempt);
      case 5 -> new CommitHandoff(attempt);
      case 6 -> new RetireHandoff(attempt);
      case 7 -> new RollBackHandoff(attempt);
      case 8 -> new OpenStream(owner, random.nextBoolean() ? RUN : NEXT_RUN, epoch);
      case 9 -> new ForgetOwner(owner, epoch);
      default -> new FenceOwner(owner, epoch);
    };
  }

  @Test
  void shouldReadNoSnapshotThatWasCutOffOrChanged() {
    state.apply(new Found(ABC));
    state.apply(new PrepareHandoff(1, 0, ABD));
    state.apply(new OpenStream(HOSTS.get(0), RUN, 1));
    byte[] whole = CatalogSnapshot.write(state);
    assertEquals(
        """
        orbitkv-catalog 1
        shard 3
        position 3
        placement 1 host-0,host-1,host-2
        attempts 1 0
        handoff 1 PREPARED host-0,host-1,host-3 host-0,host-1,host-2
        owner host-0 00000000-0000-0007-0000-000000000001 1 open
        crc32c %s
        """
            .formatted(text(whole).substring(whole.length - 9).strip()),
        text(whole));
    assertArrayEquals(whole, CatalogSnapshot.write(reread(state)));
    assertEquals(CatalogSnapshot.digest(state), CatalogSnapshot.digest(reread(state)));
    for (int length = 0; length < whole.length; length++) {
      byte[] cut = Arrays.copyOf(whole, length);
      assertThrows(CatalogSnapshot.Damaged.class, () -> CatalogSnapshot.read(cut));
    }
    for (int bit = 0; bit < 8 * whole.length; bit++) {
      byte[] changed = whole.clone();
      changed[bit / 8] ^= (byte) (1 << bit % 8);
      assertThrows(CatalogSnapshot.Damaged.class, () -> CatalogSnapshot.read(changed));
    }
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.US_ASCII);
  }

  private static CatalogState reread(CatalogState state) {
    try {
      return CatalogSnapshot.read(CatalogSnapshot.write(state));
    } catch (CatalogSnapshot.Damaged damaged) {
      throw new AssertionError(damaged);
    }
  }

  private void accepted(CatalogCommand command, long generation, List<NodeId> members) {
    CatalogAnswer answer = state.apply(command);
    assertTrue(answer instanceof CatalogAnswer.Accepted, command + ": " + answer);
    Placement placement = assertPresent(answer.placement());
    assertEquals(generation, placement.generation());
    assertEquals(members, placement.members());
  }

  private static Placement assertPresent(@Nullable Placement placement) {
    assertNotNull(placement);
    return placement;
  }

  private void refused(CatalogCommand command, CatalogRefusal reason) {
    byte[] before = CatalogSnapshot.write(state);
    CatalogAnswer answer = state.apply(command);
    assertEquals(new CatalogAnswer.Refused(reason, state.placement()), answer);
    assertArrayEquals(before, CatalogSnapshot.write(state));
  }
}
