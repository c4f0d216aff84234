package io.orbitkv.manager.bench;

import io.orbitkv.client.PublishResult;
import io.orbitkv.client.wire.BlockOutcome;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.workload.Conversations;
import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.EngineShape;
import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.manager.workload.ScratchDir;
import io.orbitkv.manager.workload.Trace;
import io.orbitkv.manager.workload.TracePlayer;
import io.orbitkv.manager.workload.TraceRequest;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What a cached block costs the Manager's heap, and how long its collector pauses under load, both
 * read from the JVM's own log. Major collections are timed, so that nobody has to ask for one.
 */
final class HeapBench {
  private static final int MAJOR_SECONDS = 2;
  private static final int BATCH = 8_192;
  private static final int BLOCK_BYTES = 64;
  private static final int LOAD_BLOCK_BYTES = 4_096;
  private static final double MAX_HEAP_BYTES = 160;
  private static final double MAX_PAUSE_NANOS = 2e6;

  private final GcLog log;
  private final ManagerProcess manager;

  private HeapBench(GcLog log, ManagerProcess manager) {
    this.log = log;
    this.manager = manager;
  }

  /**
   * Measures and adds the figures.
   *
   * @param blocks how many blocks are cached
   * @param minutes how long the load lasts
   */
  static void run(int blocks, double minutes, BenchReport report) {
    EngineShape shape = new EngineShape("bench-heap", "bench-heap", 1, BLOCK_BYTES, 16, BATCH);
    // Room for the load's blocks beside those that are counted.
    long poolBytes = (long) blocks * shape.pooledBytes() + (64L << 20);
    try (ScratchDir dir = ScratchDir.create("orbitkv-bench-")) {
      GcLog log = new GcLog(dir.path().resolve("gc.log"));
      try (ManagerProcess manager =
          ManagerProcess.start(
              dir.path(),
              List.of("--pool-size", Long.toString(poolBytes)),
              log.flags(MAJOR_SECONDS))) {
        HeapBench bench = new HeapBench(log, manager);
        bench.heap(shape, blocks, report);
        bench.pauses(minutes, report);
      }
    } catch (IOException unreadable) {
      throw new Failure("cannot read the JVM's log: " + unreadable.getMessage(), "", unreadable);
    }
  }

  private void heap(EngineShape shape, int blocks, BenchReport report) throws IOException {
    try (Engine engine = Engine.connect(manager.socket(), shape)) {
      awaitCollections();
      long emptyLive = log.leastLiveBytes(2).orElseThrow();
      long emptyUsed = log.leastUsedBytes(2).orElseThrow();
      for (int from = 0; from < blocks; from += BATCH) {
        publish(engine, from, Math.min(BATCH, blocks - from));
      }
      awaitCollections();
      double live = log.leastLiveBytes(2).orElseThrow() - emptyLive;
      double used = log.leastUsedBytes(2).orElseThrow() - emptyUsed;
      report.add(
          Figure.atMost(
              "heap per cached block, %,d blocks".formatted(blocks),
              Unit.BYTES,
              live / blocks,
              MAX_HEAP_BYTES));
      report.add(
          Figure.plain("the same with what ZGC has not reclaimed", Unit.BYTES, used / blocks));
      report.note(
          "heap alive at a major collection, less %s without a block; keys of 32 bytes"
              .formatted(Unit.BYTES.text((double) emptyLive)));
    }
  }

  private static void publish(Engine engine, int from, int count) {
    PublishResult result =
        engine
            .client()
            .publish(
                new PublishRequest(0, "fill", engine.keys(from, count), IntRun.range(0, count)));
    if (!(result instanceof PublishResult.Published(var reply, _, _))
        || reply.count(BlockOutcome.STORED) != count) {
      throw new Failure("a publish of new blocks was answered by " + result, "");
    }
  }

  /** Waits for three collections, so that what the first two promote and free is done. */
  private void awaitCollections() throws IOException {
    int wanted = log.majors() + 3;
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (log.majors() < wanted) {
      if (System.nanoTime() > deadline || !manager.isAlive()) {
        throw new Failure(
            "the Manager's JVM does not collect its heap", "this needs ZGC of JDK 25");
      }
      pause();
    }
  }

  private void pauses(double minutes, BenchReport report) throws IOException {
    int before = log.pausesNanos().length;
    long until = System.nanoTime() + (long) (minutes * 60e9);
    EngineShape shape =
        new EngineShape(
            "bench-load",
            "bench-load",
            1,
            LOAD_BLOCK_BYTES,
            Trace.MOONCAKE_BLOCK_TOKENS,
            Conversations.MAX_BLOCKS);
    int requests = 0;
    try (Engine engine = Engine.connect(manager.socket(), shape)) {
      TracePlayer player = new TracePlayer(engine);
      for (long seed = 1; System.nanoTime() < until; seed++) {
        for (TraceRequest request : Conversations.trace(seed, 500).requests()) {
          if (System.nanoTime() < until) {
            player.play(request, "load-" + requests++);
          }
        }
      }
    }
    long[] all = log.pausesNanos();
    long[] under = Arrays.copyOfRange(all, before, all.length);
    report.add(
        Figure.atMost(
            "longest GC pause in %s min of load".formatted(number(minutes)),
            Unit.NANOS,
            (double) Arrays.stream(under).max().orElse(0),
            MAX_PAUSE_NANOS));
    report.note(
        "%,d pauses of the collector, a major collection every %d s, under %,d requests"
            .formatted(under.length, MAJOR_SECONDS, requests));
  }

  private static String number(double value) {
    return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
  }

  private static void pause() {
    try {
      Thread.sleep(50);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new Failure("interrupted", "", stop);
    }
  }
}
