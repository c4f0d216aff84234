package io.orbitkv.transfer.mooncake;

import io.orbitkv.transfer.Grant;
import io.orbitkv.transfer.GrantTable;
import io.orbitkv.transfer.PeerEndpoint;
import io.orbitkv.transfer.RangeRead;
import io.orbitkv.transfer.RangeVerifier;
import io.orbitkv.transfer.ReadOutcome;
import io.orbitkv.transfer.Receipt;
import io.orbitkv.transfer.TransferEngine;
import io.orbitkv.transfer.TransferFailure;
import io.orbitkv.transfer.TransferRead;
import io.orbitkv.transfer.TransferStats;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads through Mooncake. The library has neither deadlines nor waits nor grants, so all three are
 * here: one thread submits (a submit can take minutes), one thread polls and watches deadlines, and
 * a read that is given up keeps its destination in quarantine until the library says that every
 * task has ended, or until the engine is destroyed.
 *
 * <p>The source's side is one-sided: the library serves whatever is registered, so a grant is only
 * the source's promise to keep the ranges in place until the reader tells that it is done.
 */
public final class MooncakeTransferEngine implements TransferEngine {
  private static final Logger LOG = LoggerFactory.getLogger(MooncakeTransferEngine.class);
  private static final int MAX_READS = 1024;
  private static final int MAX_GRANTS = 65_536;
  private static final long POLL_NANOS = 50_000;

  private final Options options;
  private final MemorySegment pool;
  private final NativeEngine engine;
  private final String path;
  private final PeerEndpoint endpoint;
  private final GrantTable grants;
  private final BlockingQueue<MooncakeRead> toSubmit = new ArrayBlockingQueue<>(MAX_READS);
  private final ConcurrentLinkedQueue<MooncakeRead> underWay = new ConcurrentLinkedQueue<>();
  private final AtomicInteger reads = new AtomicInteger();
  private final Map<PeerEndpoint, Integer> segments = new HashMap<>();
  private final LongAdder begun = new LongAdder();
  private final LongAdder done = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder bytesRead = new LongAdder();
  private final Thread submitter;
  private final Thread poller;
  private volatile boolean closed;

  /**
   * How it is set up.
   *
   * @param host the address that peers reach
   * @param tcp whether to use TCP alone, not what the library finds
   * @param runtime this run of the daemon
   * @param variables MC_* settings, for the first engine of a process; others keep its settings
   * @param poolAddress where a peer's pool lies in its memory, as the control path told; 0 when the
   *     peer is not known any more
   */
  public record Options(
      String host,
      boolean tcp,
      UUID runtime,
      Map<String, String> variables,
      ToLongFunction<PeerEndpoint> poolAddress) {
    /** One connection for many requests, and no chatter. */
    public static final Map<String, String> VARIABLES =
        Map.of("MC_TCP_ENABLE_CONNECTION_POOL", "1", "MC_LOG_LEVEL", "ERROR");
  }

  private MooncakeTransferEngine(MooncakeLibrary library, Options options, MemorySegment pool) {
    this.options = options;
    this.pool = pool;
    this.path = library.path();
    MooncakeLibrary.setEnvironment(options.variables());
    this.engine = NativeEngine.create(library, options.host(), options.tcp());
    engine.register(pool);
    String name = engine.name();
    int colon = name.lastIndexOf(':');
    this.endpoint =
        new PeerEndpoint(
            name.substring(0, colon),
            Integer.parseInt(name.substring(colon + 1)),
            options.runtime());
    this.grants =
        new GrantTable(
            options.runtime(), pool.byteSize(), MAX_GRANTS, System::nanoTime, new SecureRandom());
    this.submitter =
        Thread.ofPlatform().name("orbitkv-mooncake-submit").daemon().unstarted(this::submitAll);
    this.poller =
        Thread.ofPlatform().name("orbitkv-mooncake-poll").daemon().unstarted(this::pollAll);
  }

  /**
   * Starts an engine.
   *
   * @param pool native memory, of grants and of destinations; it must outlive the engine
   * @throws MooncakeException if the library refuses
   */
  public static MooncakeTransferEngine start(
      MooncakeLibrary library, Options options, MemorySegment pool) {
    MooncakeTransferEngine result = new MooncakeTransferEngine(library, options, pool);
    result.submitter.start();
    result.poller.start();
    return result;
  }

  @Override
  public Carrier carrier() {
    return new Carrier("mooncake", path);
  }

  @Override
  public PeerEndpoint endpoint() {
    return endpoint;
  }

  @Override
  public GrantTable grants() {
    return grants;
  }

  @Override
  public TransferRead read(
      PeerEndpoint source,
      Grant grant,
      List<RangeRead> ranges,
      RangeVerifier verifier,
      Duration deadline) {
    if (ranges.isEmpty() || deadline.isNegative() || deadline.isZero()) {
      throw new IllegalArgumentException("a read has ranges and a deadline");
    }
    for (RangeRead each : ranges) {
      long at = each.destination().address() - pool.address();
      if (at < 0 || at + each.source().length() > pool.byteSize()) {
        throw new IllegalArgumentException("a destination that is not in the registered pool");
      }
    }
    begun.increment();
    MooncakeRead read = new MooncakeRead(source, grant, ranges, verifier, deadline);
    if (closed) {
      end(read, new TransferFailure.Closed());
      read.release();
      return read;
    }
    if (reads.incrementAndGet() > MAX_READS || !toSubmit.offer(read)) {
      reads.decrementAndGet();
      end(read, new TransferFailure.Overloaded(MAX_READS + " reads are under way"));
      read.release();
      return read;
    }
    underWay.add(read);
    return read;
  }

  @Override
  public TransferStats stats() {
    long inFlight = 0;
    long quarantined = 0;
    for (MooncakeRead each : underWay) {
      inFlight += each.bytes();
      quarantined += each.outcome().isDone() ? 1 : 0;
    }
    return new TransferStats(
        begun.sum(),
        done.sum(),
        failed.sum() == 0 ? Map.of() : Map.of("Failed", failed.sum()),
        bytesRead.sum(),
        inFlight,
        quarantined,
        0,
        0,
        0,
        Map.of(),
        0,
        0,
        0,
        0,
        grants.size(),
        grants.readsInFlight());
  }

  @Override
  public void close() {
    closed = true;
    submitter.interrupt();
    LockSupport.unpark(poller);
    join(submitter);
    join(poller);
    engine.destroy();
    for (MooncakeRead each = underWay.poll(); each != null; each = underWay.poll()) {
      end(each, new TransferFailure.Closed());
      each.release();
    }
  }

  private void submitAll() {
    while (!closed) {
      try {
        submit(toSubmit.take());
      } catch (InterruptedException closing) {
        return;
      }
    }
  }

  private void submit(MooncakeRead read) {
    if (read.outcome().isDone()) {
      read.neverSubmitted();
      return;
    }
    long base = options.poolAddress().applyAsLong(read.source());
    if (base == 0) {
      end(read, new TransferFailure.Unreachable("the source is gone"));
      read.neverSubmitted();
      return;
    }
    int segment;
    try {
      segment = segmentOf(read.source());
    } catch (MooncakeException unreachable) {
      end(read, new TransferFailure.Unreachable(String.valueOf(unreachable.getMessage())));
      read.neverSubmitted();
      return;
    }
    List<NativeEngine.Task> tasks = new ArrayList<>();
    for (RangeRead each : read.ranges()) {
      tasks.add(new NativeEngine.Task(each.destination(), base + each.source().offset()));
    }
    try {
      read.submitted(engine.submit(segment, tasks));
    } catch (MooncakeException refused) {
      // Some of its tasks may have begun: the destination waits for the engine's end.
      end(read, new TransferFailure.PeerLost(String.valueOf(refused.getMessage())));
    }
  }

  /** A restarted peer has another name, so a segment that was opened stays right. */
  private int segmentOf(PeerEndpoint peer) {
    Integer known = segments.get(peer);
    if (known != null) {
      return known;
    }
    int segment = engine.openSegment(peer.host() + ":" + peer.port());
    segments.put(peer, segment);
    return segment;
  }

  private void pollAll() {
    while (!closed) {
      boolean moved = false;
      for (MooncakeRead each : underWay) {
        moved |= pollSafely(each);
      }
      if (!moved) {
        LockSupport.parkNanos(underWay.isEmpty() ? TimeUnit.MILLISECONDS.toNanos(1) : POLL_NANOS);
      }
    }
  }

  /** One read's trouble must not end the thread that watches all; it stays in quarantine. */
  private boolean pollSafely(MooncakeRead read) {
    try {
      return poll(read);
    } catch (RuntimeException broken) {
      LOG.error("a transfer of Mooncake is lost until the engine is closed", broken);
      read.lost();
      end(read, new TransferFailure.Misbehaved(String.valueOf(broken.getMessage())));
      return false;
    }
  }

  private boolean poll(MooncakeRead read) {
    if (System.nanoTime() - read.deadlineNanos() >= 0) {
      end(read, new TransferFailure.DeadlinePassed(read.deadline()));
    }
    return switch (read.stage()) {
      case QUEUED, LOST -> false;
      case NEVER -> leave(read);
      case SUBMITTED -> {
        NativeEngine.TaskState state = stateOf(read);
        if (state == NativeEngine.TaskState.WAITING) {
          yield false;
        }
        engine.free(read.batch());
        if (state == NativeEngine.TaskState.FAILED) {
          end(read, new TransferFailure.PeerLost("the library says that the transfer failed"));
        } else if (!read.outcome().isDone()) {
          end(read, read.verified());
        }
        yield leave(read);
      }
    };
  }

  private NativeEngine.TaskState stateOf(MooncakeRead read) {
    boolean hasFailed = false;
    for (int i = 0; i < read.ranges().size(); i++) {
      switch (engine.status(read.batch(), i)) {
        case WAITING -> {
          return NativeEngine.TaskState.WAITING;
        }
        case FAILED -> hasFailed = true;
        case COMPLETED -> {}
      }
    }
    return hasFailed ? NativeEngine.TaskState.FAILED : NativeEngine.TaskState.COMPLETED;
  }

  private boolean leave(MooncakeRead read) {
    underWay.remove(read);
    reads.decrementAndGet();
    read.release();
    return true;
  }

  private void end(MooncakeRead read, ReadOutcome how) {
    if (!read.end(how)) {
      return;
    }
    switch (how) {
      case Receipt receipt -> {
        done.increment();
        bytesRead.add(receipt.bytes());
      }
      case TransferFailure failure -> {
        failed.increment();
        LOG.debug("a read ended: {}", failure);
      }
    }
  }

  private static void join(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
