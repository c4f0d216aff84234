package io.orbitkv.manager.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.core.ssd.device.SsdFiles;
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
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostEvent.SsdEvictionCause;
import io.orbitkv.state.Totals;
import io.orbitkv.state.Totals.Counter;
import io.orbitkv.state.Totals.SsdCounter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Plays a trace against a Manager of a given size: one request at a time, every restored byte
 * checked, then the journal folded and its counts held against those of the engine.
 */
final class TraceBench {
  private static final int MIN_POOL_BYTES = 1 << 20;

  /** The disk catches up whenever this share of the pool is new. */
  private static final int CATCH_UP_PARTS = 4;

  /**
   * What playing came to.
   *
   * @param totals what the engine counted
   * @param evictions blocks that made room for others
   * @param facts facts in the journal
   * @param tier what went to and came from SSD; null without a tier
   * @param seconds from the first request to the last
   */
  record Result(
      String eviction,
      PlayTotals totals,
      long evictions,
      long facts,
      @Nullable TierFigures tier,
      double seconds) {
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
      TierFigures ssd = tier;
      if (ssd != null) {
        node.putObject("ssd")
            .put("waits", totals.waits())
            .put("readBlocks", ssd.readBlocks())
            .put("readBytes", ssd.readBytes())
            .put("writtenBlocks", ssd.writtenBlocks())
            .put("writtenBytes", ssd.writtenBytes())
            .put("evictedBlocks", ssd.evictedBlocks())
            .put("failedBlocks", ssd.failedBlocks())
            .put("skippedBlocks", ssd.skippedBlocks())
            .put("writeWaitSeconds", ssd.writeWaitSeconds());
      }
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

  /**
   * Blocks and allocated bytes between DRAM and SSD, as the journal counts them.
   *
   * @param skippedBlocks that left memory before they were written
   * @param writeWaitSeconds for which the engine waited so that the disk could catch up
   */
  record TierFigures(
      long readBlocks,
      long readBytes,
      long writtenBlocks,
      long writtenBytes,
      long evictedBlocks,
      long failedBlocks,
      long skippedBlocks,
      double writeWaitSeconds) {
    static TierFigures of(Totals totals, SsdWrites writes) {
      long failed = 0;
      for (LoadFailure reason : LoadFailure.values()) {
        failed += totals.loadsFailed(reason);
      }
      return new TierFigures(
          totals.get(SsdCounter.LOADED_BLOCKS),
          totals.get(SsdCounter.LOADED_BYTES),
          totals.get(SsdCounter.WRITTEN_BLOCKS),
          totals.get(SsdCounter.WRITTEN_BYTES),
          totals.ssdEvictedBlocks(SsdEvictionCause.CAPACITY),
          failed,
          writes.skippedBlocks(),
          writes.waitedNanos() / 1e9);
    }
  }

  private TraceBench() {}

  /**
   * Plays a trace.
   *
   * @param eviction {@code lru} or {@code tinylfu}
   * @param capacityBlocks the blocks that the pool has room for
   * @param ssdBlocks the blocks that the SSD tier has room for, 0 for no tier
   * @param ssdFolder where the tier's file is made; null for a scratch folder
   * @param progress told the requests played so far
   * @throws Failure if a byte is wrong, or the journal does not agree with the engine
   */
  static Result play(
      Trace trace,
      String eviction,
      int capacityBlocks,
      int blockBytes,
      int ssdBlocks,
      @Nullable Path ssdFolder,
      IntConsumer progress) {
    EngineShape shape =
        new EngineShape(
            "bench-trace",
            "bench-trace",
            1,
            blockBytes,
            trace.blockTokens(),
            Math.max(1, trace.longestBlocks()));
    int pooled = ssdBlocks > 0 ? shape.pooledBytesWithSsd() : shape.pooledBytes();
    long poolBytes = (long) capacityBlocks * pooled;
    if (poolBytes < MIN_POOL_BYTES) {
      throw new Failure(
          "%d blocks of %d bytes are %d bytes of pool; a Manager takes no less than 1 MiB"
              .formatted(capacityBlocks, blockBytes, poolBytes),
          "give more with --capacity-blocks, or larger ones with --block-bytes");
    }
    try (ScratchDir dir = ScratchDir.create("orbitkv-bench-")) {
      List<String> flags = new ArrayList<>();
      flags.addAll(List.of("--pool-size", Long.toString(poolBytes), "--eviction", eviction));
      if (ssdBlocks > 0) {
        Path folder = ssdFolder == null ? dir.path() : ssdFolder;
        long fileBytes = (long) ssdBlocks * pooled + SsdFiles.FIRST_OFFSET;
        flags.addAll(
            List.of(
                "--ssd-cache-path",
                folder.resolve("bench-trace.ssd").toString(),
                "--ssd-cache-capacity",
                Long.toString(fileBytes),
                "--http-addr",
                "127.0.0.1:0"));
      }
      PlayTotals totals;
      double seconds;
      SsdWrites writes = null;
      try (ManagerProcess manager = ManagerProcess.start(dir.path(), flags, List.of());
          Engine engine = Engine.connect(manager.socket(), shape)) {
        TracePlayer player = new TracePlayer(engine, ssdBlocks > 0);
        writes = ssdBlocks > 0 ? SsdWrites.of(manager) : null;
        long start = System.nanoTime();
        int played = 0;
        long written = 0;
        for (var request : trace.requests()) {
          player.play(request, "r" + played);
          long published = player.totals().publishedBlocks();
          if (writes != null && published - written >= capacityBlocks / CATCH_UP_PARTS) {
            writes.await();
            written = published;
          }
          progress.accept(++played);
        }
        if (writes != null) {
          writes.await();
        }
        seconds = (System.nanoTime() - start) / 1e9;
        totals = player.totals();
      }
      return check(eviction, totals, fold(dir.path().resolve("journal")), writes, seconds);
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

  private static Result check(
      String eviction,
      PlayTotals totals,
      Replay replay,
      @Nullable SsdWrites writes,
      double seconds) {
    Totals folded = replay.state().totals();
    agree("asked blocks", totals.askedBlocks(), folded.get(Counter.ASKED_BLOCKS));
    agree("hit blocks", totals.hitBlocks(), folded.get(Counter.HIT_BLOCKS));
    agree("published blocks", totals.publishedBlocks(), folded.get(Counter.PUBLISHED_SLICES));
    agree("restored bytes checked", totals.checkedBytes(), totals.restoredBytes());
    long evictions =
        folded.evictedBlocks(EvictionCause.CAPACITY)
            + folded.evictedBlocks(EvictionCause.ADMISSION);
    return new Result(
        eviction,
        totals,
        evictions,
        replay.state().position(),
        writes == null ? null : TierFigures.of(folded, writes),
        seconds);
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
    if (results.stream().anyMatch(result -> result.tier() != null)) {
      tier(table, results, "SSD blocks read", t -> "%,d".formatted(t.readBlocks()));
      tier(table, results, "SSD bytes read", t -> "%,d".formatted(t.readBytes()));
      tier(table, results, "SSD bytes written", t -> "%,d".formatted(t.writtenBytes()));
      tier(table, results, "SSD evictions", t -> "%,d".formatted(t.evictedBlocks()));
      tier(table, results, "SSD blocks failed", t -> "%,d".formatted(t.failedBlocks()));
      tier(table, results, "SSD blocks skipped", t -> "%,d".formatted(t.skippedBlocks()));
      tier(table, results, "waited for writes", t -> "%.1f s".formatted(t.writeWaitSeconds()));
      row(table, results, "queries that waited", r -> "%,d".formatted(r.totals().waits()));
    }
    row(table, results, "bytes checked", r -> "%,d".formatted(r.totals().checkedBytes()));
    row(table, results, "facts", r -> "%,d".formatted(r.facts()));
    row(table, results, "time", r -> "%.1f s".formatted(r.seconds()));
    latency(table, results, "query", PlayTotals::queries);
    latency(table, results, "restore", PlayTotals::restores);
    latency(table, results, "publish", PlayTotals::publishes);
    return table.lines();
  }

  private static void tier(
      TextTable table, List<Result> results, String name, Function<TierFigures, String> cell) {
    row(
        table,
        results,
        name,
        result -> {
          TierFigures tier = result.tier();
          return tier == null ? "" : cell.apply(tier);
        });
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
