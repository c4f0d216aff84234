package io.orbitkv.chaos.sim;

import io.orbitkv.core.Command;
import io.orbitkv.core.FactLog;
import io.orbitkv.core.copy.CopyTask;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostState;
import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.StateFormat;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The parts that the loop is given: right ones, unless a bug is planted. */
final class Planted {
  private final @Nullable Plant plant;
  private final PlantedDisk disk;
  private @Nullable DelayedLog delayed;
  private @Nullable EagerBooks books;

  Planted(@Nullable Plant plant) {
    this.plant = plant;
    this.disk = new PlantedDisk(plant);
  }

  /** The parts of the SSD tier. */
  PlantedDisk disk() {
    return disk;
  }

  // ---- the pool's books
  // --------------------------------------------------------------------------------------------

  ExtentAllocator extents(SimMemory memory, int granuleBytes, long firstGeneration) {
    if (plant == null || !plant.freesEarly()) {
      return memory.new Books(granuleBytes, firstGeneration);
    }
    EagerBooks eager = new EagerBooks(memory, granuleBytes, firstGeneration);
    books = eager;
    return eager;
  }

  /** A fact is in the journal and has not been applied by the loop. */
  void appended(Fact fact, FactModel model, HostState live, ExtentAllocator of) {
    disk.appended(fact, model, live, of == books ? books : null);
    EagerBooks eager = books;
    if (eager == null || eager != of) {
      return;
    }
    if (plant == Plant.FREE_WHILE_LEASED
        && fact.event() instanceof HostEvent.BlocksEvicted evicted) {
      evicted
          .blocks()
          .forEach(
              id -> {
                int slot = live.slotOf(id);
                if (slot >= 0 && live.sealed(slot) && live.pins(slot) > 0) {
                  eager.freeEarly(live, slot);
                }
              });
    }
    if (plant == Plant.FREE_DURING_RESTORE
        && fact.event() instanceof HostEvent.LeaseReleased released) {
      FactModel.Lease lease = model.lease(released.leaseId());
      if (lease != null) {
        lease.forEach(
            block -> {
              int slot = live.slotOf(block.id);
              if (slot >= 0 && block.keptByCopiesOnly()) {
                eager.freeEarly(live, slot);
              }
            });
      }
    }
  }

  // ---- the journal
  // -------------------------------------------------------------------------------------------------

  /** Appends a batch when the next one ends: what it answered in between is told too soon. */
  private static final class DelayedLog implements FactLog {
    private record Late(long atMicros, HostEvent event) {}

    private final SimLog log;
    private final ArrayDeque<Late> late = new ArrayDeque<>();
    private int ofThisBatch;
    private boolean lagging;

    DelayedLog(SimLog log) {
      this.log = log;
    }

    @Override
    public long append(long atMicros, HostEvent event) {
      if (!lagging) {
        return log.append(atMicros, event);
      }
      late.add(new Late(atMicros, event));
      ofThisBatch++;
      return log.folded().position() + late.size();
    }

    @Override
    public boolean hasRoom(int facts, long columnBytes) {
      return log.hasRoom(facts, columnBytes);
    }

    @Override
    public void endBatch() {
      while (late.size() > ofThisBatch) {
        Late fact = late.remove();
        log.append(fact.atMicros(), fact.event());
      }
      ofThisBatch = 0;
    }
  }

  FactLog log(SimLog log) {
    if (plant != Plant.REPLY_BEFORE_APPEND) {
      return disk.log(log);
    }
    DelayedLog late = new DelayedLog(log);
    delayed = late;
    return late;
  }

  /** The epoch has begun. */
  void serving() {
    DelayedLog late = delayed;
    if (late != null) {
      late.lagging = true;
    }
  }

  /** Whether the live state may be ahead of the journal, which is the planted bug itself. */
  boolean journalLags() {
    return delayed != null || disk.journalLags();
  }

  // ---- copies
  // ------------------------------------------------------------------------------------------------------

  /** Tells the loop of a copy as soon as it is submitted. */
  private static final class EarlyCopies extends SimCopies {
    EarlyCopies(int maxInFlight) {
      super(maxInFlight);
    }

    @Override
    public boolean submit(CopyTask task) {
      tell(task);
      enqueue(task);
      return true;
    }

    @Override
    void ran(CopyTask task) {}
  }

  SimCopies copies(int maxInFlight) {
    return plant == Plant.COPY_ENDED_EARLY
        ? new EarlyCopies(maxInFlight)
        : new SimCopies(maxInFlight);
  }

  // ---- commands
  // ----------------------------------------------------------------------------------------------------

  /** What the loop is told instead of a command. */
  Command command(Command command, FactModel model, @Nullable SimSession session) {
    if (plant == Plant.VISIBLE_BEFORE_SEALED
        && command instanceof Command.Register register
        && register.format() != null) {
      return oneSliceIsEnough(register, register.format());
    }
    if (plant == Plant.DEAD_EPOCH_HONOURED
        && session != null
        && session.epoch != model.epoch()
        && command instanceof Command.Restore restore) {
      return asSuccessor(restore, session, model);
    }
    return command;
  }

  private static Command oneSliceIsEnough(Command.Register of, StateFormat format) {
    List<GroupSpec> groups =
        format.groups().stream()
            .map(
                group ->
                    new GroupSpec(
                        group.groupId(),
                        group.component(),
                        group.pageTokens(),
                        group.rule(),
                        true,
                        group.bytesPerBlock()))
            .toList();
    StateFormat taken =
        new StateFormat(
            format.modelDigest(),
            format.implementationDigest(),
            format.dtype(),
            format.layout(),
            format.parallel(),
            groups);
    return new Command.Register(
        of.instance(),
        of.namespace(),
        taken,
        of.shard(),
        of.shardCount(),
        of.role(),
        of.pid(),
        of.uid(),
        of.attachTo(),
        of.buffers(),
        of.replyTo());
  }

  /** Finds the engine's session by name, and for its lease the largest one instead. */
  private static Command asSuccessor(Command.Restore restore, SimSession session, FactModel model) {
    SimSession successor = session.engine.current.get(session.role);
    if (successor == null) {
      return restore;
    }
    FactModel.Lease largest =
        model.openLeases(successor.id).stream()
            .max(Comparator.comparingInt(FactModel.Lease::size))
            .orElse(null);
    if (largest == null) {
      return restore;
    }
    return new Command.Restore(
        successor.id,
        restore.request(),
        largest.id,
        restore.targets(),
        restore.releaseLease(),
        restore.progress(),
        restore.replyTo());
  }

  void epochEnds() {
    delayed = null;
    books = null;
    disk.epochEnds();
  }
}
