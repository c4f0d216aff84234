package io.orbitkv.catalog.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.catalog.membership.HostSet;
import io.orbitkv.catalog.peer.PlacementFeed.Change;
import io.orbitkv.state.catalog.CatalogCommand;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.CatalogState;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

final class KnownPlacementsTest {
  private static final NodeId A = new NodeId("a");
  private static final NodeId B = new NodeId("b");
  private static final NodeId C = new NodeId("c");
  private static final int SHARD = 7;

  private final KnownPlacements known = new KnownPlacements(A);

  @Test
  void shouldTellOfPlacementsFromAPosition() {
    assertTrue(known.found(new HostSet(List.of(A, B), 2)));
    assertFalse(known.found(new HostSet(List.of(A, B, C), 3)));
    long founded = known.last();
    assertEquals(CatalogShards.COUNT, founded);
    Placement newer = new Placement(SHARD, 2, List.of(B, C));
    known.learn(newer);
    known.learn(newer);
    known.learn(new Placement(SHARD, 1, List.of(A)));
    assertEquals(newer, known.placement(SHARD));
    assertEquals(Optional.of(List.of(new Change(founded + 1, newer))), known.after(founded, 10));
    assertEquals(Optional.of(List.of()), known.after(known.last(), 10));
    assertEquals(Optional.empty(), known.after(known.last() + 1, 10));
  }

  @Test
  void shouldTellOfAFoundingThatLeavesEverythingToThisHost() {
    known.found(new HostSet(List.of(A), 1));
    assertEquals(CatalogShards.COUNT, known.last());
    assertEquals(CatalogShards.COUNT, known.after(0, 100).orElseThrow().size());
  }

  @Test
  void shouldTellWhatItHoldsNoMoreAsAGap() {
    for (int generation = 2; generation < 3_000; generation++) {
      known.learn(new Placement(SHARD, generation, List.of(A)));
    }
    assertEquals(Optional.empty(), known.after(1, 10));
    assertEquals(10, known.after(known.last() - 100, 10).orElseThrow().size());
  }

  @Test
  void shouldFollowTheStepsOfAHandoffAndTellSubscribersOfPlacementsOnly() {
    CatalogState state = new CatalogState(SHARD);
    state.apply(new CatalogCommand.Found(List.of(A, B)));
    known.learn(CatalogView.of(state));
    final long last = known.last();
    final CatalogView early = CatalogView.of(state);
    state.apply(new CatalogCommand.OpenStream(A, new UUID(1, 1), 1));
    known.learn(CatalogView.of(state));
    state.apply(new CatalogCommand.PrepareHandoff(1, 0, List.of(A, C)));
    known.learn(CatalogView.of(state));
    assertEquals(Set.of(A, B, C), known.holders(SHARD));
    known.learn(early);
    assertEquals(Set.of(A, B, C), known.holders(SHARD));
    assertEquals(last, known.last());
    state.apply(new CatalogCommand.CaughtUp(1));
    state.apply(new CatalogCommand.CommitHandoff(1));
    known.learn(CatalogView.of(state));
    assertEquals(Set.of(A, B, C), known.holders(SHARD));
    assertEquals(last + 1, known.last());
    state.apply(new CatalogCommand.RetireHandoff(1));
    known.learn(CatalogView.of(state));
    assertEquals(Set.of(A, C), known.holders(SHARD));
    assertEquals(last + 1, known.last());
  }
}
