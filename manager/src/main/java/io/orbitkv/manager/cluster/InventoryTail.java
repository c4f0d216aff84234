package io.orbitkv.manager.cluster;

import io.orbitkv.catalog.inventory.NamespaceScope;
import io.orbitkv.catalog.inventory.OwnInventory;
import io.orbitkv.catalog.inventory.Tier;
import io.orbitkv.journal.FactCursor;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.journal.Replayer;
import io.orbitkv.state.Effects;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostState;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.identity.StateKey;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes this host's inventory of its journal, as anybody could who reads the journal: a fold of its
 * own, with the same {@code apply}, on its own thread. The loop knows nothing of it and waits for
 * nothing.
 *
 * <p>Before a fact is applied it is asked which blocks it may touch, and after it whether these can
 * be read otherwise than before; the difference is told at the fact's position. Facts that
 * retention took before they were read are made up for by a fold from a checkpoint, whose
 * difference from what was told before is told at its position.
 */
final class InventoryTail implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(InventoryTail.class);

  /** The longest time from a fact to its reading, while there are facts. */
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  /** The same after a second without any. */
  private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int FACTS_PER_ADVANCE = 256;
  private static final Tier[] TIERS = Tier.values();

  private final Path journalDir;
  private final LongSupplier written;
  private final OwnInventory inventory =
      new OwnInventory(0, OwnInventory.DEFAULT_CHANGES, NamespaceScope.ALL);
  private final Runnable whole;
  private final Thread thread;
  private final List<Told> before = new ArrayList<>();
  private HostState state = new HostState();
  private boolean wasWhole;
  private volatile boolean closed;
  private volatile Optional<String> problem = Optional.empty();

  /** How a block could be read before a fact. */
  private record Told(long blockId, @Nullable StateKey key, long dram, long ssd) {
    long generation(Tier tier) {
      return switch (tier) {
        case DRAM -> dram;
        case SSD -> ssd;
      };
    }
  }

  /**
   * A tail that {@link #start} starts.
   *
   * @param written the position of the last fact in the journal, for any thread
   * @param whole called once, when the inventory has what the journal had at its start
   */
  InventoryTail(Path journalDir, LongSupplier written, Runnable whole) {
    this.journalDir = journalDir;
    this.written = written;
    this.whole = whole;
    this.thread = Thread.ofPlatform().name("orbitkv-inventory").daemon().unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  /** What it makes. */
  OwnInventory inventory() {
    return inventory;
  }

  /** How many facts of the journal it has not read. */
  long behind() {
    return Math.max(0, written.getAsLong() - inventory.position());
  }

  /** Why it does not go on, if it does not. */
  Optional<String> problem() {
    return problem;
  }

  private void run() {
    while (!closed) {
      try {
        fold();
        problem = Optional.empty();
        follow();
      } catch (IOException | RuntimeException failed) {
        if (!closed) {
          problem = Optional.of("the journal cannot be read for the catalog: " + failed);
          LOG.error("inventory: the journal cannot be read; others see an older state", failed);
          LockSupport.parkNanos(this, AGAIN_NANOS);
        }
      }
    }
  }

  /** Folds the journal from its newest checkpoint, and tells what differs from what was told. */
  private void fold() throws IOException {
    Replay replay =
        Replayer.run(
            JournalReader.open(journalDir),
            ReplayOptions.QUICK.onOneThread(),
            new ReplayHooks() {
              @Override
              public boolean stop() {
                return closed;
              }
            });
    switch (replay.ending()) {
      case Replay.Ending.Complete _ -> tellDifference(replay.state());
      case Replay.Ending.Stopped _ -> {
        // close() wants it to end.
      }
      case Replay.Ending.Corrupted _,
          Replay.Ending.NoStart _,
          Replay.Ending.Unreadable _,
          Replay.Ending.Broken _ ->
          throw new IOException(replay.ending().toString());
    }
  }

  private void tellDifference(HostState folded) {
    folded.deferDigest();
    if (folded.position() > state.position()) {
      for (int slot : state.slotsInOrder()) {
        remember(state, slot);
      }
      HostState earlier = state;
      state = folded;
      tell(folded.position());
      for (int slot : folded.slotsInOrder()) {
        if (earlier.slotOf(folded.blockId(slot)) < 0) {
          before.add(
              new Told(folded.blockId(slot), null, ReadableBlocks.NONE, ReadableBlocks.NONE));
        }
      }
      tell(folded.position());
      inventory.advance(folded.position());
    }
    if (!wasWhole) {
      wasWhole = true;
      LOG.info(
          "inventory: whole at position {}, {} blocks", state.position(), state.sealedBlocks());
      whole.run();
    }
  }

  private void follow() throws IOException {
    long lastFact = System.nanoTime();
    try (FactCursor cursor = JournalReader.open(journalDir).follow(state.position() + 1)) {
      while (!closed) {
        if (written.getAsLong() > state.position() && !drain(cursor)) {
          LOG.warn("inventory: facts behind {} are gone; folding again", state.position());
          return;
        }
        long now = System.nanoTime();
        if (state.position() > inventory.position()) {
          inventory.advance(state.position());
          lastFact = now;
        }
        LockSupport.parkNanos(this, now - lastFact > QUIET_NANOS ? IDLE_NANOS : LOOK_NANOS);
      }
    }
  }

  /** Reads what there is; false when facts are missing. */
  private boolean drain(FactCursor cursor) throws IOException {
    for (int facts = 1; !closed; facts++) {
      switch (cursor.next()) {
        case END -> {
          return true;
        }
        case DAMAGED -> {
          if (cursor.corruption().lostFacts() > 0) {
            return false;
          }
        }
        case FACT -> {
          if (cursor.fact().position() != state.position() + 1) {
            return false;
          }
          take(cursor.fact());
          if (facts % FACTS_PER_ADVANCE == 0) {
            inventory.advance(state.position());
          }
        }
      }
    }
    return true;
  }

  private void take(Fact fact) {
    LongRanges touched = ReadableBlocks.touchedBy(fact.event(), state);
    touched.forEach(id -> remember(state, id));
    state.apply(fact, Effects.NONE);
    tell(fact.position());
  }

  private void remember(HostState of, long blockId) {
    int slot = of.slotOf(blockId);
    if (slot < 0) {
      before.add(new Told(blockId, null, ReadableBlocks.NONE, ReadableBlocks.NONE));
    } else {
      remember(of, slot);
    }
  }

  private void remember(HostState of, int slot) {
    long dram = ReadableBlocks.generation(of, slot, Tier.DRAM);
    long ssd = ReadableBlocks.generation(of, slot, Tier.SSD);
    boolean told = dram != ReadableBlocks.NONE || ssd != ReadableBlocks.NONE;
    before.add(new Told(of.blockId(slot), told ? ReadableBlocks.key(of, slot) : null, dram, ssd));
  }

  /** Tells how the remembered blocks can be read now, where it is otherwise than before. */
  private void tell(long position) {
    for (Told told : before) {
      int slot = state.slotOf(told.blockId());
      for (Tier tier : TIERS) {
        long was = told.generation(tier);
        long is = ReadableBlocks.generation(state, slot, tier);
        if (is == was) {
          continue;
        }
        StateKey key = told.key() != null ? told.key() : ReadableBlocks.key(state, slot);
        if (is == ReadableBlocks.NONE) {
          inventory.removed(position, key, tier, was);
        } else {
          inventory.sealed(position, key, tier, is, ReadableBlocks.bytes(state, slot));
        }
      }
    }
    before.clear();
  }

  /** Ends the thread, within a second. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
    try {
      thread.join(TimeUnit.SECONDS.toMillis(1));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
