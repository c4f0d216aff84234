package io.orbitkv.chaos.sim;

import io.orbitkv.core.eviction.LruPolicy;
import io.orbitkv.core.ssd.SsdDuty;
import io.orbitkv.core.ssd.SsdReport;
import io.orbitkv.core.ssd.SsdTier;
import io.orbitkv.core.ssd.device.SsdDevice;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.TierTrouble;
import io.orbitkv.state.HostState;
import java.lang.foreign.Arena;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The SSD tier of a world: the disk, whoever works it, and what it does wrong. */
final class SimTier {
  private final World.Tier tier;
  private final boolean poolDamage;
  private final SimClock clock;
  private final Planted planted;
  private final Tally tally;
  private final Consumer<Supplier<String>> say;
  private final SimDisk disk;
  private final DiskModel model;
  private final FactModel facts;
  private boolean healed;

  // One run of the process.
  private SimDisk.@Nullable Opened device;
  private @Nullable SsdDuty duty;
  private @Nullable SimStore store;

  // The loop looks at the end of each term whether anything has ended in it, so that it surely
  // knows
  // of a hang at the end of the second whole term of silence that it was awake for.
  private static final int TERMS_TO_KNOW = 2;

  private long hangsSinceMicros;
  private int knownInFlight;
  private long knownEnded;
  private long knownEndMicros;
  private int silentTerms;
  private long termMicros;

  SimTier(
      World world,
      World.Tier tier,
      Arena arena,
      SimClock clock,
      FactModel facts,
      Planted planted,
      Tally tally,
      Consumer<Supplier<String>> say) {
    this.tier = tier;
    this.poolDamage = world.damage();
    this.clock = clock;
    this.planted = planted;
    this.tally = tally;
    this.say = say;
    this.facts = facts;
    this.disk = new SimDisk(arena, tier, clock, tally);
    this.model =
        new DiskModel(facts, tier.files(), SimDisk.fileBytes(tier), SsdDevice.ALIGNMENT_BYTES);
  }

  // ---- the process
  // -------------------------------------------------------------------------------------------------

  /** The tier as the next process opens it. */
  SsdTier open(HostState recovered, SimMemory memory) {
    SimDisk.Witness witness =
        new SimDisk.Witness() {
          @Override
          public void pool(long offset, int bytes) {
            memory.touches(offset, bytes);
          }

          @Override
          public void begins(boolean read, int file, long offset, int bytes) {
            model.begins(read, file, offset, bytes);
          }

          @Override
          public void ended(boolean read, int file, long offset, int bytes, int moved) {
            model.ended(read, file, offset, bytes, moved);
          }
        };
    SimDisk.Opened opened = disk.open(memory.pool(), witness);
    opened.lastEndMicros = clock.monotonicMicros();
    SsdDuty worker = new SsdDuty(opened, memory.pool(), () -> {});
    SimStore counting = planted.disk().store(worker);
    device = opened;
    duty = worker;
    store = counting;
    knownInFlight = 0;
    knownEnded = 0;
    return new SsdTier(
        tier.settings(),
        7,
        7,
        disk.fileBytes(),
        planted
            .disk()
            .extents(disk.fileBytes(), SimDisk.HEADER_BYTES, recovered.nextSsdGeneration()),
        new LruPolicy(),
        counting,
        new SsdReport());
  }

  /** The process is gone. */
  void die(Draws draws) {
    if (device != null) {
      device.die(draws);
    }
    model.died();
  }

  /** The loop has had a duty cycle and goes on. */
  void cycled() {
    SimStore of = store;
    SimDisk.Opened opened = device;
    if (of == null || opened == null) {
      return;
    }
    long now = clock.monotonicMicros();
    if (knownInFlight == 0
        || knownEnded != of.endedTasks()
        || knownEndMicros != opened.lastEndMicros) {
      silentTerms = 0;
      termMicros = now;
    } else if (now - termMicros >= 1_000 * tier.settings().hangMillis()) {
      silentTerms++;
      termMicros = now;
    }
    knownInFlight = of.inFlight();
    knownEnded = of.endedTasks();
    knownEndMicros = opened.lastEndMicros;
    Violation.require(
        !surelyHangs() || facts.diskHangs(),
        Rule.SSD_REPORTED,
        () -> "the disk has ended nothing for %d terms".formatted(silentTerms));
  }

  /** Whether the disk has ended nothing for so long that the loop must know. */
  private boolean surelyHangs() {
    return silentTerms >= TERMS_TO_KNOW;
  }

  // ---- the schedule
  // ------------------------------------------------------------------------------------------------

  /** The disk's thread has its turn: operations begin, and some may end. */
  void turn(Draws draws) {
    SsdDuty worker = duty;
    SimDisk.Opened opened = device;
    if (worker == null || opened == null) {
      return;
    }
    if (tier.hangs() && !healed && draws.oneIn(40)) {
      long millis = draws.between(20, 2_500);
      disk.hang(millis);
      say.accept(() -> "  the disk hangs for %d ms".formatted(millis));
    }
    if (tier.fills() && !healed && draws.oneIn(40)) {
      long millis = draws.between(20, 2_000);
      disk.fill(millis);
      say.accept(() -> "  the disk is full for %d ms".formatted(millis));
    }
    worker.doWork();
    for (int i = draws.below(4); i > 0; i--) {
      opened.end(draws);
    }
    worker.doWork();
  }

  /** Whether the disk has something to do. */
  boolean busy() {
    return store != null && store.inFlight() > 0;
  }

  /** The disk neither hangs nor is full from here on. */
  void heal() {
    healed = true;
    disk.heal();
  }

  /** Flips bits on the disk, if the world is so. */
  void flipBits(Draws draws) {
    if (tier.damage()) {
      for (int i = draws.between(1, 6); i > 0; i--) {
        disk.flipBit(draws);
      }
      say.accept(() -> "  bits flip on the disk");
    }
  }

  // ---- facts
  // ------------------------------------------------------------------------------------------------------

  /** A fact is in the journal. */
  void appended(Fact fact) {
    model.add(fact.event());
    switch (fact.event()) {
      case HostEvent.SsdWritten e -> tally.add(Tally.Count.WRITTEN_BLOCKS, e.blocks().size());
      case HostEvent.SsdSkipped e -> tally.add(Tally.Count.SKIPPED_BLOCKS, e.blocks().size());
      case HostEvent.SsdEvicted e -> tally.add(Tally.Count.EVICTED_BLOCKS, e.blocks().size());
      case HostEvent.BlocksLoaded e -> {
        tally.add(Tally.Count.READ_BLOCKS, e.blocks().size());
        e.blocks()
            .forEach(
                id -> {
                  FactModel.Block block = facts.block(id);
                  boolean outlived = block != null && block.outlived(facts.epoch());
                  tally.add(Tally.Count.OUTLIVED_BLOCKS, outlived ? 1 : 0);
                });
      }
      case HostEvent.LoadFailed e -> {
        tally.add(Tally.Count.READS_FAILED, e.blocks().size());
        require(explains(e.reason()), () -> "a read fails on a sound disk: " + e);
      }
      case HostEvent.TierDegraded e -> {
        tally.add(Tally.Count.DEGRADED);
        if (e.trouble() == TierTrouble.HANGS) {
          hangsSinceMicros = clock.monotonicMicros();
        }
        require(explains(e.trouble()), () -> "the tier is degraded on a sound disk: " + e);
      }
      case HostEvent.TierRecovered e -> require(recovers(e.trouble()), () -> "no reason for " + e);
      default -> {
        // The other facts are no news of the disk.
      }
    }
  }

  private static void require(boolean explained, Supplier<String> what) {
    Violation.require(explained, Rule.FAILED_WITHOUT_FAULT, what);
  }

  private boolean explains(HostEvent.LoadFailure reason) {
    return switch (reason) {
      case IO_ERROR, SHORT -> tier.faulty();
      case CHECKSUM -> tier.damage() || poolDamage;
      case CANCELLED, RESTART -> true;
    };
  }

  private boolean recovers(TierTrouble trouble) {
    SimDisk.Opened opened = device;
    return opened != null
        && switch (trouble) {
          case HANGS -> opened.lastEndMicros >= hangsSinceMicros || !busy();
          case DISK_FULL, WRITES_FAIL -> opened.writesDone > 0;
        };
  }

  private boolean explains(TierTrouble trouble) {
    SimDisk.Opened opened = device;
    if (opened == null) {
      return false;
    }
    return switch (trouble) {
      case DISK_FULL -> opened.refusedWrites > 0;
      case WRITES_FAIL -> opened.failures + opened.refusedWrites > 0;
      case HANGS ->
          clock.monotonicMicros() - opened.lastEndMicros >= 1_000 * tier.settings().hangMillis();
    };
  }
}
