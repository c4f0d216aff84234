package io.orbitkv.catalog.lookup;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.inventory.Candidate;
import io.orbitkv.catalog.inventory.Fingerprint;
import io.orbitkv.catalog.inventory.InventoryReceiver;
import io.orbitkv.catalog.inventory.InventoryTable;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Answers questions from this host's tables, without waiting. */
public final class LocalLookup {
  private final InventoryReceiver receiver;
  private final PlacementView placements;
  private final Supplier<Set<NodeId>> owners;

  /**
   * An answerer.
   *
   * @param owners the live hosts that should have sent their views
   */
  public LocalLookup(
      InventoryReceiver receiver, PlacementView placements, Supplier<Set<NodeId>> owners) {
    this.receiver = receiver;
    this.placements = placements;
    this.owners = owners;
  }

  /** Whether this host serves a catalog shard. */
  public boolean serves(int catalogShard) {
    return receiver.table(catalogShard).isPresent();
  }

  /** The answer of this host. */
  public Answer answer(Question question) {
    Placement known = placements.placement(question.catalogShard());
    if (question.generation() < known.generation()) {
      return new Answer.Stale(known);
    }
    Optional<InventoryTable> table = receiver.table(question.catalogShard());
    if (table.isEmpty()) {
      return new Answer.Refused(
          new Refusal(
              RefusalCategory.STALE,
              "catalog shard " + question.catalogShard() + " is not served here",
              "ask another replica, and read the placement again"));
    }
    return new Answer.Found(find(table.get(), question), table.get().isWhole(owners.get()));
  }

  private static List<List<Candidate>> find(InventoryTable table, Question question) {
    List<List<Candidate>> byKey = new ArrayList<>(question.keys().size());
    for (Fingerprint key : question.keys()) {
      byKey.add(table.find(key, question.perTier()));
    }
    return byKey;
  }
}
