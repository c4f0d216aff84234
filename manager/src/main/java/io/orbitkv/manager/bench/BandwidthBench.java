package io.orbitkv.manager.bench;

import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.wire.BlockOutcome;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.Posix;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.EngineShape;
import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.manager.workload.Samples;
import io.orbitkv.manager.workload.ScratchDir;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * How fast HOST blocks are published and restored, checksums on, beside one memcpy of the same
 * bytes in this process. Both go through a memory much larger than the caches.
 */
final class BandwidthBench {
  private static final long POOL_BYTES = 512L << 20;
  private static final int BATCH_BYTES = 64 << 20;
  private static final int[] BLOCK_BYTES = {16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};

  /** Some 20 s, after which the compilers of both JVMs have little left to do. */
  private static final int WARM_UP_ROUNDS = 150;

  private static final double SHARE = 0.8;

  private final Engine engine;
  private final MemorySegment elsewhere;
  private final int blocks;
  private long nextBlock;
  private long nextCopy;
  private final List<Double> copies = new ArrayList<>();
  private final List<Double> publishes = new ArrayList<>();
  private final List<Double> restores = new ArrayList<>();

  private BandwidthBench(Engine engine, MemorySegment elsewhere) {
    this.engine = engine;
    this.elsewhere = elsewhere;
    this.blocks = engine.shape().pages();
    for (int page = 0; page < blocks; page++) {
      engine.fill(page, page);
    }
  }

  /** Measures each block size and adds the figures. */
  static void run(int rounds, BenchReport report) {
    List<String> flags = List.of("--pool-size", Long.toString(POOL_BYTES), "--prefault");
    try (ScratchDir dir = ScratchDir.create("orbitkv-bench-");
        ManagerProcess manager = ManagerProcess.start(dir.path(), flags, List.of());
        Mapping elsewhere =
            Mapping.anonymous(POOL_BYTES, MapOptions.READ_WRITE.withPopulate(true))) {
      List<BandwidthBench> sizes = new ArrayList<>();
      try {
        for (int blockBytes : BLOCK_BYTES) {
          Engine engine = Engine.connect(manager.socket(), shape(blockBytes));
          sizes.add(new BandwidthBench(engine, elsewhere.segment()));
        }
        for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
          for (BandwidthBench size : sizes) {
            size.measure(round >= 0);
          }
        }
        sizes.forEach(size -> size.report(report));
      } finally {
        sizes.forEach(size -> size.engine.close());
      }
    } catch (NativeException noMemory) {
      throw new Failure("no memory for the copies: " + noMemory.getMessage(), "", noMemory);
    }
    report.note(
        "medians over %d rounds of %d MiB, memcpy, publish and restore in turn, checksums on"
            .formatted(rounds, BATCH_BYTES >> 20));
  }

  private static EngineShape shape(int blockBytes) {
    String name = "bench-pool-" + blockBytes;
    return new EngineShape(name, name, 1, blockBytes, 16, BATCH_BYTES / blockBytes);
  }

  /** One round: memcpy, publish, restore. */
  private void measure(boolean counts) {
    double copy = bytesPerSecond(this::copy);
    KeyRun keys = engine.keys(nextBlock, blocks);
    nextBlock += blocks;
    double publish = bytesPerSecond(() -> publish(keys));
    double restore = restore(keys);
    if (counts) {
      copies.add(copy);
      publishes.add(publish);
      restores.add(restore);
    }
  }

  private void report(BenchReport report) {
    double floor = median(copies);
    String size = sizeText(engine.shape().blockBytes());
    Unit unit = Unit.BYTES_PER_SECOND;
    report.add(
        Figure.atLeastShare("publish, blocks of " + size, unit, median(publishes), floor, SHARE));
    report.add(
        Figure.atLeastShare("restore, blocks of " + size, unit, median(restores), floor, SHARE));
  }

  private static double median(List<Double> figures) {
    return Samples.median(figures.stream().mapToDouble(Double::doubleValue).toArray());
  }

  private void copy() {
    MemorySegment to = elsewhere.asSlice(nextCopy, BATCH_BYTES);
    nextCopy = (nextCopy + BATCH_BYTES) % POOL_BYTES;
    Posix.memcpy(to, engine.memory());
  }

  private void publish(KeyRun keys) {
    PublishResult result =
        engine.client().publish(new PublishRequest(0, "bench", keys, IntRun.range(0, blocks)));
    if (!(result instanceof PublishResult.Published(var reply, _, _))
        || reply.count(BlockOutcome.STORED) != blocks) {
      throw new Failure("a publish of new blocks was answered by " + result, "");
    }
  }

  private double restore(KeyRun keys) {
    QueryResult query =
        engine
            .client()
            .query(new QueryRequest(0, 0, "bench", List.of(new QueryRequest.GroupKeys(0, keys))));
    if (!(query instanceof QueryResult.Ready(var lease, _))) {
      throw new Failure("a query of blocks that are there was answered by " + query, "");
    }
    RestoreRequest request =
        new RestoreRequest(
            "bench", List.of(new RestoreRequest.GroupPages(0, 0, IntRun.range(0, blocks))));
    double speed =
        bytesPerSecond(
            () -> {
              RestoreResult result = engine.client().restore(lease, request);
              if (!(result instanceof RestoreResult.Restored)) {
                throw new Failure("a restore was answered by " + result, "");
              }
            });
    engine.client().release(lease).orThrow();
    return speed;
  }

  private static double bytesPerSecond(Runnable operation) {
    long start = System.nanoTime();
    operation.run();
    return BATCH_BYTES / ((System.nanoTime() - start) / 1e9);
  }

  private static String sizeText(int bytes) {
    return bytes >= 1 << 20 ? (bytes >> 20) + " MiB" : (bytes >> 10) + " KiB";
  }
}
