package io.orbitkv.manager.demo;

import io.orbitkv.manager.workload.Conversations;
import io.orbitkv.manager.workload.EngineShape;
import io.orbitkv.manager.workload.Trace;
import io.orbitkv.manager.workload.TraceFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What the demo plays; the demo and its engine take the same options. */
final class DemoWorkload {
  private static final int LAYERS = 8;
  private static final int LAYER_BYTES = 16 << 10;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description = "Play this instead: JSON lines in Mooncake's format; may be gzip.")
  private @Nullable Path trace;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Of the conversations; the same seed asks the same. Default: ${DEFAULT-VALUE}.")
  private long seed;

  @Option(
      names = "--requests",
      paramLabel = "N",
      defaultValue = "400",
      description = "How many requests. Default: ${DEFAULT-VALUE}.")
  private int requests;

  boolean valid() {
    return requests >= 1 && requests <= 1_000_000;
  }

  Trace load() {
    return trace == null ? Conversations.trace(seed, requests) : TraceFile.read(trace, requests);
  }

  /** What is played, for people. */
  String describe() {
    return trace == null ? "conversations of seed " + seed : trace.toString();
  }

  /** The same options again. */
  List<String> arguments() {
    List<String> arguments = new ArrayList<>();
    arguments.add("--seed=" + seed);
    arguments.add("--requests=" + requests);
    if (trace != null) {
      arguments.add("--trace=" + trace.toAbsolutePath());
    }
    return arguments;
  }

  static EngineShape shape(Trace trace) {
    return new EngineShape(
        "demo-engine",
        "demo-model",
        LAYERS,
        LAYER_BYTES,
        trace.blockTokens(),
        Math.max(1, trace.longestBlocks()));
  }

  /** The name of a request. */
  static String name(int index) {
    return "request-%04d".formatted(index + 1);
  }
}
