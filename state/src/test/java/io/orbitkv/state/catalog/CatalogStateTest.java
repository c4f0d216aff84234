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
    accepted(new PrepareHandoff(1, ABD), 1, ABC);
    refused(new CommitHandoff(1, ABD), CatalogRefusal.NOT_CAUGHT_UP);
    accepted(new CaughtUp(1, ABD), 1, ABC);
    accepted(new CommitHandoff(1, ABD), 2, ABD);
    assertEquals(new Handoff(Step.COMMITTED, ABD, ABC), state.handoff());
    refused(new PrepareHandoff(1, ABC), CatalogRefusal.OLD_GENERATION);
    refused(new PrepareHandoff(2, ABC), CatalogRefusal.HANDOFF_OPEN);
    accepted(new RetireHandoff(2), 2, ABD);
    assertNull(state.handoff());
    accepted(new PrepareHandoff(2, ABC), 2, ABD);
    assertEquals(6, state.position());
  }

  @Test
  void shouldDoNothingTwice() {
    List<CatalogCommand> steps =
        List.of(
            new Found(ABC),
            new PrepareHandoff(1, ABD),
            new CaughtUp(1, ABD),
            new CommitHandoff(1, ABD),
            new RetireHandoff(2),
            new OpenStream(HOSTS.get(0), RUN, 1),
            new FenceOwner(HOSTS.get(0), 1));
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
    state.apply(new PrepareHandoff(1, ABD));
    accepted(new RollBackHandoff(1, ABD), 1, ABC);
    assertNull(state.handoff());
    state.apply(new PrepareHandoff(1, ABD));
    state.apply(new CaughtUp(1, ABD));
    state.apply(new CommitHandoff(1, ABD));
    refused(new RollBackHandoff(1, ABD), CatalogRefusal.COMMITTED_ALREADY);
    accepted(new RetireHandoff(2), 2, ABD);
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
    accepted(new FenceOwner(owner, 5), 1, ABC);
    refused(new OpenStream(owner, NEXT_RUN, 5), CatalogRefusal.OLD_EPOCH);
    accepted(new OpenStream(owner, RUN, 6), 1, ABC);
  }

  @Test
  void shouldRefuseMembersThatAreNoPlacement() {
    refused(new PrepareHandoff(1, ABC), CatalogRefusal.NOT_FOUNDED);
    refused(new Found(List.of()), CatalogRefusal.BAD_MEMBERS);
    refused(new Found(List.of(HOSTS.get(0), HOSTS.get(0))), CatalogRefusal.BAD_MEMBERS);
    refused(new Found(RendezvousTest.hosts(16)), CatalogRefusal.BAD_MEMBERS);
    accepted(new Found(ABC), 1, ABC);
    refused(new Found(ABD), CatalogRefusal.FOUNDED_OTHERWISE);
    refused(new PrepareHandoff(1, ABC), CatalogRefusal.NOTHING_TO_MOVE);
    refused(new PrepareHandoff(2, ABD), CatalogRefusal.UNKNOWN_GENERATION);
    assertEquals(1, state.position());
  }

  @Test
  void shouldAgreeWithALiteralModelOnEveryCommand() {
    SeededTries.run(
        200,
        random -> {
          CatalogState live = new CatalogState(9);
          ModelCatalog model = new ModelCatalog();
          Map<Long, List<NodeId>> everPlaced = new HashMap<>();
          for (int i = 0; i < 120; i++) {
            CatalogCommand command = command(random, live);
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

  private static CatalogCommand command(Random random, CatalogState state) {
    Placement now = state.placement();
    Handoff open = state.handoff();
    long generation = (now == null ? 0 : now.generation()) + (random.nextInt(8) == 0 ? -1 : 0);
    List<NodeId> any = new ArrayList<>(HOSTS.subList(random.nextInt(2), 3 + random.nextInt(2)));
    List<NodeId> target = open != null && random.nextInt(4) > 0 ? open.target() : any;
    NodeId owner = HOSTS.get(random.nextInt(2));
    long epoch = random.nextInt(5);
    return switch (random.nextInt(10)) {
      case 0 -> new Found(random.nextInt(6) == 0 ? List.of() : any);
      case 1, 2 -> new PrepareHandoff(generation, target);
      case 3, 4 -> new CaughtUp(generation, target);
      case 5 -> new CommitHandoff(generation, target);
      case 6 -> new RetireHandoff(generation);
      case 7 -> new RollBackHandoff(generation, target);
      case 8 -> new OpenStream(owner, random.nextBoolean() ? RUN : NEXT_RUN, epoch);
      default -> new FenceOwner(owner, epoch);
    };
  }

  @Test
  void shouldReadNoSnapshotThatWasCutOffOrChanged() {
    state.apply(new Found(ABC));
    state.apply(new PrepareHandoff(1, ABD));
    state.apply(new OpenStream(HOSTS.get(0), RUN, 1));
    byte[] whole = CatalogSnapshot.write(state);
    assertEquals(
        """
        orbitkv-catalog 1
        shard 3
        position 3
        placement 1 host-0,host-1,host-2
        handoff PREPARED host-0,host-1,host-3 host-0,host-1,host-2
        owner host-0 00000000-0000-0007-0000-000000000001 1 open
        crc32c %s
        """
            .formatted(text(whole).substring(whole.length - 9).strip()),
        text(whole));
    assertArrayEquals(whole, CatalogSnapshot.write(reread(state)));
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
