package io.orbitkv.manager.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.journal.Replayer;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.EngineShape;
import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.manager.workload.PlayTotals;
import io.orbitkv.manager.workload.Samples;
import io.orbitkv.manager.workload.ScratchDir;
import io.orbitkv.manager.workload.Trace;
import io.orbitkv.manager.workload.TracePlayer;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.Totals;
import io.orbitkv.state.Totals.Counter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.IntConsumer;

/**
 * Plays a trace against a Manager of a given size: one request at a time, every restored byte
 * checked, then the journal folded and its counts held against those of the engine.
 */
final class TraceBench {
  private static final int MIN_POOL_BYTES = 1 << 20;

  /**
   * What playing came to.
   *
   * @param totals what the engine counted
   * @param evictions blocks that made room for others
   * @param facts facts in the journal
   * @param seconds from the first request to the last
   */
  record Result(String eviction, PlayTotals totals, long evictions, long facts, double seconds) {
    ObjectNode json() {
      ObjectNode node = JsonNodeFactory.instance.objectNode();
      node.put("eviction", eviction);
      node.put("requests", totals.requests());
      node.put("askedBlocks", totals.askedBlocks());
      node.put("hitBlocks", totals.hitBlocks());
      node.put("hitRatio", totals.hitRatio());
      node.put("evictedBlocks", evictions);
      node.put("publishedBlocks", totals.publishedBlocks());
      node.put("refusedBlocks", totals.refusedBlocks());
      node.put("checkedBytes", totals.checkedBytes());
      node.put("facts", facts);
      node.put("seconds", seconds);
      latency(node.putObject("queryNanos"), totals.queries());
      latency(node.putObject("restoreNanos"), totals.restores());
      latency(node.putObject("publishNanos"), totals.publishes());
      return node;
    }

    private static void latency(ObjectNode node, Samples samples) {
      node.put("count", samples.count());
      node.put("p50", samples.percentileNanos(50));
      node.put("p99", samples.percentileNanos(99));
      node.put("p999", samples.percentileNanos(99.9));
      node.put("max", samples.maxNanos());
    }
  }

  private TraceBench() {}

  /**
   * Plays a trace.
   *
   * @param eviction {@code lru} or {@code tinylfu}
   * @param capacityBlocks the blocks that the pool has room for
   * @param progress told the requests played so far
   * @throws Failure if a byte is wrong, or the journal does not agree with the engine
   */
  static Result play(
      Trace trace, String eviction, int capacityBlocks, int blockBytes, IntConsumer progress) {
    EngineShape shape =
        new EngineShape(
            "bench-trace",
            "bench-trace",
            1,
            blockBytes,
            trace.blockTokens(),
            Math.max(1, trace.longestBlocks()));
    long poolBytes = (long) capacityBlocks * shape.pooledBytes();
    if (poolBytes < MIN_POOL_BYTES) {
      throw new Failure(
          "%d blocks of %d bytes are %d bytes of pool; a Manager takes no less than 1 MiB"
              .formatted(capacityBlocks, blockBytes, poolBytes),
          "give more with --capacity-blocks, or larger ones with --block-bytes");
    }
    try (ScratchDir dir = ScratchDir.create("orbitkv-bench-")) {
      List<String> flags = List.of("--pool-size", Long.toString(poolBytes), "--eviction", eviction);
      PlayTotals totals;
      double seconds;
      try (ManagerProcess manager = ManagerProcess.start(dir.path(), flags, List.of());
          Engine engine = Engine.connect(manager.socket(), shape)) {
        TracePlayer player = new TracePlayer(engine);
        long start = System.nanoTime();
        int played = 0;
        for (var request : trace.requests()) {
          player.play(request, "r" + played);
          progress.accept(++played);
        }
        seconds = (System.nanoTime() - start) / 1e9;
        totals = player.totals();
      }
      return check(eviction, totals, fold(dir.path().resolve("journal")), seconds);
    }
  }

  private static Replay fold(Path journal) {
    try {
      Replay replay =
          Replayer.run(
              JournalReader.open(journal),
              ReplayOptions.QUICK.from(ReplayOptions.Start.OLDEST_FACT),
              ReplayHooks.NONE);
      if (!replay.clean()) {
        throw new Failure(
            "the fold of the journal does not hold: " + replay.ending(),
            "keep the journal and run orbitkv replay --verify");
      }
      return replay;
    } catch (IOException unreadable) {
      throw new Failure("cannot read " + journal + ": " + unreadable.getMessage(), "", unreadable);
    }
  }

  private static Result check(String eviction, PlayTotals totals, Replay replay, double seconds) {
    Totals folded = replay.state().totals();
    agree("asked blocks", totals.askedBlocks(), folded.get(Counter.ASKED_BLOCKS));
    agree("hit blocks", totals.hitBlocks(), folded.get(Counter.HIT_BLOCKS));
    agree("published blocks", totals.publishedBlocks(), folded.get(Counter.PUBLISHED_SLICES));
    long evictions =
        folded.evictedBlocks(EvictionCause.CAPACITY)
            + folded.evictedBlocks(EvictionCause.ADMISSION);
    return new Result(eviction, totals, evictions, replay.state().position(), seconds);
  }

  private static void agree(String what, long engine, long journal) {
    if (engine != journal) {
      throw new Failure(
          "%s: the engine counted %,d, the journal says %,d".formatted(what, engine, journal), "");
    }
  }

  /** The lines for a person. */
  static List<String> lines(List<Result> results) {
    TextTable table = new TextTable().column("bench trace", TextTable.Side.LEFT);
    results.forEach(result -> table.column(result.eviction(), TextTable.Side.RIGHT));
    row(table, results, "requests", r -> "%,d".formatted(r.totals().requests()));
    row(table, results, "blocks asked", r -> "%,d".formatted(r.totals().askedBlocks()));
    row(table, results, "blocks hit", r -> "%,d".formatted(r.totals().hitBlocks()));
    row(table, results, "hit ratio", r -> "%.4f".formatted(r.totals().hitRatio()));
    row(table, results, "evictions", r -> "%,d".formatted(r.evictions()));
    row(table, results, "blocks refused", r -> "%,d".formatted(r.totals().refusedBlocks()));
    row(table, results, "bytes checked", r -> "%,d".formatted(r.totals().checkedBytes()));
    row(table, results, "facts", r -> "%,d".formatted(r.facts()));
    row(table, results, "time", r -> "%.1f s".formatted(r.seconds()));
    latency(table, results, "query", PlayTotals::queries);
    latency(table, results, "restore", PlayTotals::restores);
    latency(table, results, "publish", PlayTotals::publishes);
    return table.lines();
  }

  private static void latency(
      TextTable table, List<Result> results, String name, Function<PlayTotals, Samples> samples) {
    double[] percents = {50, 99, 99.9};
    for (double percent : percents) {
      String label = percent == Math.rint(percent) ? "%.0f" : "%.1f";
      row(
          table,
          results,
          name + " p" + String.format(Locale.ROOT, label, percent),
          r -> Unit.NANOS.text((double) samples.apply(r.totals()).percentileNanos(percent)));
    }
  }

  private static void row(
      TextTable table, List<Result> results, String name, Function<Result, String> cell) {
    String[] cells = new String[results.size() + 1];
    cells[0] = name;
    for (int i = 0; i < results.size(); i++) {
      cells[i + 1] = cell.apply(results.get(i));
    }
    table.row(cells);
  }
}
