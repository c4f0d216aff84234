package io.orbitkv.manager.replay;

import io.orbitkv.manager.replay.BlockLife.Mark;
import io.orbitkv.state.HostEvent.BlocksDemoted;
import io.orbitkv.state.HostEvent.BlocksLoaded;
import io.orbitkv.state.HostEvent.BlocksLoading;
import io.orbitkv.state.HostEvent.LoadFailed;
import io.orbitkv.state.HostEvent.SsdEvicted;
import io.orbitkv.state.HostEvent.SsdSkipped;
import io.orbitkv.state.HostEvent.SsdWritten;
import io.orbitkv.state.HostEvent.TierDegraded;
import io.orbitkv.state.HostEvent.TierFact;
import io.orbitkv.state.HostEvent.TierRecovered;
import io.orbitkv.state.HostEvent.TierTrouble;
import io.orbitkv.state.LongRanges;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What the SSD tier's facts do to the lives of blocks, and when the tier was ill. */
final class SsdHistory {
  private static final int MAX_TROUBLES = 1_000;

  /** The tier was ill from a fact on, to another or to the end of the journal. */
  static final class Trouble {
    final Mark from;
    final TierDegraded fact;
    @Nullable Mark to;

    Trouble(Mark from, TierDegraded fact) {
      this.from = from;
      this.fact = fact;
    }

    boolean at(long position) {
      Mark over = to;
      return from.position() < position && (over == null || over.position() > position);
    }
  }

  private final List<Trouble> troubles = new ArrayList<>();

  /**
   * Takes a fact.
   *
   * @param alive the lives in question that have not ended
   * @param gone called for a block that is nowhere any more
   */
  void visit(Mark mark, TierFact fact, Collection<BlockLife> alive, Consumer<BlockLife> gone) {
    switch (fact) {
      case TierDegraded event -> degraded(mark, event);
      case TierRecovered event -> recovered(mark, event.trouble());
      case SsdWritten event -> add(mark, event, event.blocks(), alive);
      case BlocksDemoted event -> add(mark, event, event.blocks(), alive);
      case BlocksLoading event -> add(mark, event, event.blocks(), alive);
      case BlocksLoaded event -> add(mark, event, event.blocks(), alive);
      case SsdSkipped event -> add(mark, event, event.blocks(), alive);
      case SsdEvicted event ->
          add(mark, event, event.blocks(), alive).stream()
              .filter(life -> life.ssd.before(mark.position()).demoted() != null)
              .forEach(gone);
      case LoadFailed event -> {
        List<BlockLife> concerned = add(mark, event, event.blocks(), alive);
        if (SsdLife.losesTheCopy(event)) {
          concerned.forEach(gone);
        }
      }
      default -> {}
    }
  }

  private static List<BlockLife> add(
      Mark mark, TierFact fact, LongRanges blocks, Collection<BlockLife> alive) {
    List<BlockLife> concerned =
        alive.stream().filter(life -> blocks.contains(life.blockId)).toList();
    concerned.forEach(life -> life.ssd.add(mark, fact));
    return concerned;
  }

  private void degraded(Mark mark, TierDegraded event) {
    if (troubles.size() == MAX_TROUBLES) {
      troubles.removeFirst();
    }
    troubles.add(new Trouble(mark, event));
  }

  private void recovered(Mark mark, TierTrouble trouble) {
    for (Trouble each : troubles) {
      if (each.to == null && each.fact.trouble() == trouble) {
        each.to = mark;
      }
    }
  }

  /** What ailed the tier at a position, null if nothing did. */
  @Nullable Trouble at(long position, boolean readsToo) {
    for (Trouble trouble : troubles.reversed()) {
      if (trouble.at(position) && (!readsToo || trouble.fact.trouble() == TierTrouble.HANGS)) {
        return trouble;
      }
    }
    return null;
  }
}
