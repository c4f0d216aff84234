package io.orbitkv.manager.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.manager.Version;
import io.orbitkv.manager.cli.ExitCode;
import io.orbitkv.manager.workload.Trace;
import io.orbitkv.manager.workload.TraceFile;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code orbitkv bench trace}. */
@Command(
    name = "trace",
    description = "Play a trace through the whole data path and count its hits.",
    mixinStandardHelpOptions = true)
final class TraceBenchCommand implements Callable<Integer> {

  /** Which policy is measured; tinylfu is always shown beside lru. */
  enum Policy {
    LRU,
    TINYLFU
  }

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--trace",
      required = true,
      paramLabel = "FILE",
      description = "JSON lines of timestamp, input_length, output_length, hash_ids; may be gzip.")
  private Path trace = Path.of("");

  @Option(
      names = "--eviction",
      paramLabel = "POLICY",
      defaultValue = "LRU",
      description = "lru, or tinylfu, which is shown beside lru. Default: lru.")
  private Policy eviction = Policy.LRU;

  @Option(
      names = "--capacity-blocks",
      required = true,
      paramLabel = "N",
      description = "Blocks that the pool has room for.")
  private int capacityBlocks;

  @Option(
      names = "--ssd-capacity-blocks",
      paramLabel = "N",
      description = "Blocks that a tier on SSD has room for; queries then wait for the disk.")
  private int ssdCapacityBlocks;

  @Option(
      names = "--ssd-folder",
      paramLabel = "DIR",
      description = "Where the tier's file is made. Default: a scratch folder.")
  private @Nullable Path ssdFolder;

  @Option(
      names = "--block-bytes",
      paramLabel = "BYTES",
      defaultValue = "4096",
      description = "Bytes of a block, a multiple of 8. Default: ${DEFAULT-VALUE}.")
  private int blockBytes;

  @Option(names = "--requests", paramLabel = "N", description = "Play only the first N requests.")
  private int requests = Integer.MAX_VALUE;

  @Option(
      names = "--expect-hits",
      paramLabel = "N",
      description = "Fail unless exactly so many blocks are hit.")
  private @Nullable Long expectHits;

  @Option(names = "--json", paramLabel = "FILE", description = "Also write the figures as JSON.")
  private @Nullable Path json;

  @Override
  public Integer call() {
    atLeast("--capacity-blocks", capacityBlocks, 1);
    atLeast("--requests", requests, 1);
    atLeast("--ssd-capacity-blocks", ssdCapacityBlocks, 0);
    if (blockBytes < 8 || blockBytes % 8 != 0 || blockBytes > 64 << 20) {
      throw new ParameterException(
          spec.commandLine(), "--block-bytes is a multiple of 8 up to 64 MiB, not " + blockBytes);
    }
    PrintWriter out = spec.commandLine().getOut();
    Trace loaded = TraceFile.read(trace, requests);
    out.printf(
        Locale.ROOT,
        "%s: %,d requests, %,d blocks, %,d of them different; a pool of %,d blocks of %,d bytes%n",
        trace,
        loaded.requests().size(),
        loaded.totalBlocks(),
        loaded.distinctBlocks(),
        capacityBlocks,
        blockBytes);
    out.flush();
    List<TraceBench.Result> results = new ArrayList<>();
    results.add(play(loaded, "lru"));
    if (eviction == Policy.TINYLFU) {
      results.add(play(loaded, "tinylfu"));
    }
    TraceBench.lines(results).forEach(out::println);
    out.flush();
    if (json != null) {
      BenchReport.write(json(loaded, results), json);
    }
    return verdict(out, results.getLast().totals().hitBlocks());
  }

  private TraceBench.Result play(Trace loaded, String policy) {
    try (ProgressLine progress = new ProgressLine(policy, loaded.requests().size())) {
      return TraceBench.play(
          loaded, policy, capacityBlocks, blockBytes, ssdCapacityBlocks, ssdFolder, progress);
    }
  }

  private int verdict(PrintWriter out, long hits) {
    if (expectHits == null) {
      return ExitCode.OK;
    }
    boolean equal = hits == expectHits;
    out.printf(
        Locale.ROOT,
        "hits %,d, expected %,d: %s%n",
        hits,
        expectHits,
        equal ? "equal" : "NOT EQUAL");
    out.flush();
    return equal ? ExitCode.OK : ExitCode.FAILED;
  }

  private ObjectNode json(Trace loaded, List<TraceBench.Result> results) {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.put("bench", "trace");
    root.put("version", Version.TEXT);
    root.put("requests", loaded.requests().size());
    root.put("blocks", loaded.totalBlocks());
    root.put("capacityBlocks", capacityBlocks);
    root.put("ssdCapacityBlocks", ssdCapacityBlocks);
    root.put("blockBytes", blockBytes);
    ArrayNode list = root.putArray("results");
    results.forEach(result -> list.add(result.json()));
    return root;
  }

  private void atLeast(String option, int value, int least) {
    if (value < least) {
      throw new ParameterException(
          spec.commandLine(), option + " is at least " + least + ", not " + value);
    }
  }
}
