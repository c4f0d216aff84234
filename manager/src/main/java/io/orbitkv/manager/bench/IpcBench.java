package io.orbitkv.manager.bench;

import io.orbitkv.client.Lease;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.EngineShape;
import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.manager.workload.Samples;
import io.orbitkv.manager.workload.ScratchDir;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The process channel: how long a PING, a QUERY of one block and a QUERY of 2,048 blocks take, all
 * blocks being there. A query's lease is released outside the measured time.
 */
final class IpcBench {
  private static final int BLOCKS = 2_048;
  private static final int BLOCK_BYTES = 64;
  private static final int PAGE_TOKENS = 16;
  private static final long APART_NANOS = 1_000_000;

  /** Enough for the compilers of both JVMs, even where other work takes their processors. */
  private static final int WARM_UP = 60_000;

  private static final String FLOOR = "ping-pong of eventfds";
  private static final String FLOOR_APART = "ping-pong of eventfds, 1 ms apart";
  private static final String PING = "PING";
  private static final String ONE = "QUERY of 1 block";
  private static final String MANY = "QUERY of 2,048 blocks";
  private static final String ONE_APART = "QUERY of 1 block, 1 ms apart";

  private final Engine engine;
  private final PingPong floor;
  private final QueryRequest one;
  private final QueryRequest many;
  private final Map<String, List<Samples>> rounds = new TreeMap<>();
  private @Nullable Lease open;

  private IpcBench(Engine engine, PingPong floor) {
    this.engine = engine;
    this.floor = floor;
    KeyRun keys = engine.keys(0, BLOCKS);
    this.many = query(keys);
    this.one = query(keys.slice(0, 1));
  }

  /** Measures, some seconds a round. */
  static BenchReport run(int rounds) {
    EngineShape shape =
        new EngineShape("bench-ipc", "bench-ipc", 1, BLOCK_BYTES, PAGE_TOKENS, BLOCKS);
    long poolBytes = 2L * BLOCKS * shape.pooledBytes();
    try (ScratchDir dir = ScratchDir.create("orbitkv-bench-");
        ManagerProcess manager =
            ManagerProcess.start(
                dir.path(), List.of("--pool-size", Long.toString(poolBytes)), List.of());
        Engine engine = Engine.connect(manager.socket(), shape);
        PingPong floor = PingPong.start(dir.path())) {
      return new IpcBench(engine, floor).measure(rounds);
    }
  }

  private BenchReport measure(int count) {
    publish();
    warmUp();
    for (int round = 0; round < count; round++) {
      repeat(FLOOR, 2_000, 0, floor::roundTrip);
      repeat(ONE, 2_000, 0, () -> ask(one));
      repeat(PING, 2_000, 0, this::ping);
      repeat(MANY, 500, 0, () -> ask(many));
      repeat(FLOOR_APART, 300, APART_NANOS, floor::roundTrip);
      repeat(ONE_APART, 300, APART_NANOS, () -> ask(one));
    }
    return report(count);
  }

  /** Measures one thing so many times; a lease that it leaves is released off the clock. */
  private void repeat(String name, int times, long apartNanos, Runnable operation) {
    Samples samples = new Samples();
    for (int i = 0; i < times; i++) {
      if (apartNanos > 0) {
        LockSupport.parkNanos(apartNanos);
      }
      long start = System.nanoTime();
      operation.run();
      samples.add(System.nanoTime() - start);
      release();
    }
    rounds.computeIfAbsent(name, _ -> new ArrayList<>()).add(samples);
  }

  private void ask(QueryRequest request) {
    QueryResult result = engine.client().query(request);
    if (!(result instanceof QueryResult.Ready ready)) {
      throw new Failure("a query of blocks that are there was answered by " + result, "");
    }
    open = ready.lease();
  }

  private void release() {
    Lease lease = open;
    if (lease != null) {
      engine.client().release(lease).orThrow();
      open = null;
    }
  }

  private void ping() {
    engine.client().ping().orThrow();
  }

  private void publish() {
    for (int page = 0; page < BLOCKS; page++) {
      engine.fill(page, page);
    }
    PublishRequest request =
        new PublishRequest(0, "setup", engine.keys(0, BLOCKS), IntRun.range(0, BLOCKS));
    if (!(engine.client().publish(request) instanceof PublishResult.Published)) {
      throw new Failure("the blocks to be asked for could not be published", "");
    }
  }

  private void warmUp() {
    for (int i = 0; i < WARM_UP; i++) {
      floor.roundTrip();
      ask(one);
      release();
      if (i % 4 == 0) {
        ping();
      }
      if (i % 20 == 0) {
        ask(many);
        release();
      }
    }
  }

  private BenchReport report(int count) {
    BenchReport report = new BenchReport("ipc");
    double floor50 = median(FLOOR, 50);
    double floor99 = median(FLOOR, 99);
    report.add(Figure.plain(FLOOR + " p50", Unit.NANOS, floor50));
    report.add(Figure.plain(FLOOR + " p99", Unit.NANOS, floor99));
    report.add(Figure.plain(FLOOR + " p99.9", Unit.NANOS, median(FLOOR, 99.9)));
    report.add(Figure.plain(PING + " p50", Unit.NANOS, median(PING, 50)).besides(floor50));
    report.add(Figure.plain(PING + " p99", Unit.NANOS, median(PING, 99)).besides(floor99));
    double one50 = median(ONE, 50);
    report.add(Figure.atMost(ONE + " p50", Unit.NANOS, one50, 15_000));
    report.add(Figure.atMostTimes(ONE + " p50", Unit.NANOS, one50, floor50, 2));
    report.add(Figure.atMost(ONE + " p99", Unit.NANOS, median(ONE, 99), 60_000).besides(floor99));
    report.add(Figure.plain(ONE + " p99.9", Unit.NANOS, median(ONE, 99.9)));
    report.add(Figure.plain(MANY + " p50", Unit.NANOS, median(MANY, 50)).besides(floor50));
    report.add(
        Figure.atMost(MANY + " p99", Unit.NANOS, median(MANY, 99), 300_000).besides(floor99));
    report.add(Figure.plain(MANY + " p99.9", Unit.NANOS, median(MANY, 99.9)));
    report.add(
        Figure.plain(ONE_APART + " p50", Unit.NANOS, median(ONE_APART, 50))
            .besides(median(FLOOR_APART, 50)));
    report.add(
        Figure.plain(ONE_APART + " p99", Unit.NANOS, median(ONE_APART, 99))
            .besides(median(FLOOR_APART, 99)));
    report.note(
        "medians over %d rounds in which all were measured in turn; every query got a lease"
            .formatted(count));
    return report;
  }

  private double median(String name, double percent) {
    return Samples.median(
        rounds.getOrDefault(name, List.of()).stream()
            .mapToDouble(samples -> samples.percentileNanos(percent))
            .toArray());
  }

  private static QueryRequest query(KeyRun keys) {
    return new QueryRequest(0, 0, "bench", List.of(new QueryRequest.GroupKeys(0, keys)));
  }
}
