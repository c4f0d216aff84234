package io.orbitkv.core;

import io.orbitkv.core.copy.CopyExecutor;
import io.orbitkv.core.copy.CopyTask;
import io.orbitkv.core.eviction.EvictionPolicy;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.core.pool.PoolId;
import io.orbitkv.core.remote.Peers;
import io.orbitkv.core.ssd.SsdStore;
import io.orbitkv.core.ssd.SsdTask;
import io.orbitkv.core.ssd.SsdTier;
import io.orbitkv.state.BrokenInvariant;
import io.orbitkv.state.HostState;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.agrona.concurrent.Agent;
import org.jspecify.annotations.Nullable;

/**
 * The one thread that owns the host's state, as a duty cycle: ended copies first (they free memory
 * and answer), then commands, timers and background work, and last the answers of the whole cycle.
 * A thread runs it; a test or a simulator steps it, with every source of time, commands and copies
 * in its hands.
 *
 * <p>What goes wrong here is a broken invariant: {@link #doWork} throws {@link LoopBroken} with the
 * journal position, and from then on the loop does nothing.
 */
public final class ManagerLoop implements Agent {
  /** Few enough that the first answer of a cycle does not wait long for the last. */
  private static final int COMMANDS_PER_CYCLE = 16;

  private static final int COPIES_PER_CYCLE = 64;

  private final Decider decider;
  private final CommandSource source;
  private final CopyExecutor copies;
  private final Clock clock;
  private final Consumer<Command> handle;
  private final Consumer<CopyTask> copyDone;
  private final @Nullable SsdStore ssd;
  private final Consumer<SsdTask> ssdDone;
  private final @Nullable Peers peers;
  private boolean starting = true;
  private boolean broken;

  /**
   * A loop whose epoch has not begun.
   *
   * @param version of the daemon, for the journal
   * @param state what the journal's fold gave; owned by the loop from here on
   * @param extents fresh books of the pool: no extent in use, generations above {@code
   *     state.nextExtentGeneration()}
   * @param pool the memory that {@code extents} cuts
   */
  public ManagerLoop(
      HostConfig config,
      String version,
      HostState state,
      FactLog log,
      Clock clock,
      CommandSource source,
      EvictionPolicy policy,
      ExtentAllocator extents,
      MemorySegment pool,
      CopyExecutor copies,
      SessionListener listener) {
    this(config, version, state, log, clock, source, policy, extents, pool, copies, listener, null);
  }

  /**
   * A loop with an SSD tier.
   *
   * @param tier null for none; its store outlives the loop
   */
  public ManagerLoop(
      HostConfig config,
      String version,
      HostState state,
      FactLog log,
      Clock clock,
      CommandSource source,
      EvictionPolicy policy,
      ExtentAllocator extents,
      MemorySegment pool,
      CopyExecutor copies,
      SessionListener listener,
      @Nullable SsdTier tier) {
    this(
        config,
        version,
        state,
        log,
        clock,
        source,
        policy,
        extents,
        pool,
        copies,
        listener,
        tier,
        PoolId.NONE);
  }

  /**
   * A loop whose pool may outlive it.
   *
   * @param poolId what the pool is known by; {@link PoolId#NONE} if it dies with the daemon
   */
  public ManagerLoop(
      HostConfig config,
      String version,
      HostState state,
      FactLog log,
      Clock clock,
      CommandSource source,
      EvictionPolicy policy,
      ExtentAllocator extents,
      MemorySegment pool,
      CopyExecutor copies,
      SessionListener listener,
      @Nullable SsdTier tier,
      PoolId poolId) {
    this(
        config, version, state, log, clock, source, policy, extents, pool, copies, listener, tier,
        poolId, null);
  }

  /**
   * A loop that works with other hosts.
   *
   * @param peers null for none; its ports outlive the loop
   */
  public ManagerLoop(
      HostConfig config,
      String version,
      HostState state,
      FactLog log,
      Clock clock,
      CommandSource source,
      EvictionPolicy policy,
      ExtentAllocator extents,
      MemorySegment pool,
      CopyExecutor copies,
      SessionListener listener,
      @Nullable SsdTier tier,
      PoolId poolId,
      @Nullable Peers peers) {
    if (extents.usedExtents() != 0 || extents.poolBytes() != config.poolBytes()) {
      throw new IllegalArgumentException(
          "the books must be of an empty pool of %d bytes, not of %d with %d extents in use"
              .formatted(config.poolBytes(), extents.poolBytes(), extents.usedExtents()));
    }
    this.decider =
        new Decider(
            config, version, state, log, clock, policy, extents, pool, copies, listener, tier,
            poolId, peers);
    this.source = source;
    this.copies = copies;
    this.clock = clock;
    this.handle = decider::handle;
    this.copyDone = task -> decider.handle(new Command.CopyDone(task));
    this.ssd = tier == null ? null : tier.store();
    this.peers = peers;
    this.ssdDone = task -> decider.handle(new Command.SsdDone(task));
  }

  /**
   * One duty cycle.
   *
   * @return how much was done, 0 when there was nothing to do
   * @throws LoopBroken when an invariant does not hold; the daemon must stop
   */
  @Override
  public int doWork() {
    if (broken || decider.ended()) {
      return 0;
    }
    try {
      return starting ? start() : cycle();
    } catch (BrokenInvariant e) {
      broken = true;
      throw new LoopBroken(e.position(), e);
    } catch (RuntimeException | Error e) {
      broken = true;
      throw new LoopBroken(decider.position(), e);
    }
  }

  private int start() {
    starting = decider.start();
    decider.endBatch();
    return 1;
  }

  private int cycle() {
    int work = copies.poll(copyDone, COPIES_PER_CYCLE);
    if (ssd != null) {
      work += ssd.poll(ssdDone, COPIES_PER_CYCLE);
    }
    if (peers != null && !decider.ended()) {
      work += peers.blocks().poll(decider, COPIES_PER_CYCLE);
      work += decider.ended() ? 0 : peers.grants().poll(decider, COPIES_PER_CYCLE);
    }
    if (!decider.ended()) {
      work += source.poll(handle, COMMANDS_PER_CYCLE);
    }
    if (!decider.ended()) {
      work += decider.timers() + decider.background();
    }
    return work + decider.endBatch();
  }

  /** Whether the epoch has begun and commands are taken. */
  public boolean serving() {
    return !starting && !broken && !decider.ended();
  }

  /** How far this run is with the blocks of an earlier one; any thread. */
  public AdoptionReport adoption() {
    return decider.adoption();
  }

  /** Whether the epoch has ended in order. */
  public boolean ended() {
    return decider.ended();
  }

  /**
   * Nanoseconds until a timer is due, 0 if there is work now; {@link Long#MAX_VALUE} when nothing
   * is due ever.
   */
  public long nanosToNextTimer() {
    long next = decider.nextDeadlineMicros();
    if (starting || next == Long.MIN_VALUE) {
      return 0;
    }
    if (next == Long.MAX_VALUE) {
      return Long.MAX_VALUE;
    }
    return Math.max(0, next - clock.monotonicMicros()) * 1_000;
  }

  @Override
  public String roleName() {
    return "orbitkv-loop";
  }

  Decider decider() {
    return decider;
  }
}
