package io.orbitkv.manager.demo;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.orbitkv.manager.workload.PlayTotals;

/**
 * What the demo's engine tells the demo, as a line of JSON: how far it is, and in the end all of
 * it.
 *
 * @param finished whether this is the last one
 * @param requests requests played
 * @param inputTokens tokens of their inputs
 * @param askedBlocks blocks they asked for
 * @param hitBlocks leading blocks that were there
 * @param publishedBytes bytes the Manager took
 * @param restoredBytes bytes it gave back, every one checked
 * @param refusedBlocks blocks it had no room for
 * @param publishNanos time spent in publishes
 * @param restoreNanos time spent in restores
 * @param queryP50 of all queries, nanoseconds; the others likewise
 * @param missed a request that missed something, best one whose blocks had been there; empty if
 *     none
 * @param missedEvicted whether its first missing block had been there
 */
record EngineReport(
    boolean finished,
    int requests,
    long inputTokens,
    long askedBlocks,
    long hitBlocks,
    long publishedBytes,
    long restoredBytes,
    long refusedBlocks,
    long publishNanos,
    long restoreNanos,
    long queryP50,
    long queryP99,
    long restoreP50,
    long restoreP99,
    long publishP50,
    long publishP99,
    String missed,
    boolean missedEvicted) {
  private static final ObjectMapper JSON = new ObjectMapper();

  static EngineReport of(
      PlayTotals totals, boolean finished, String missed, boolean missedEvicted) {
    return new EngineReport(
        finished,
        totals.requests(),
        totals.inputTokens(),
        totals.askedBlocks(),
        totals.hitBlocks(),
        totals.publishedBytes(),
        totals.restoredBytes(),
        totals.refusedBlocks(),
        totals.publishes().totalNanos(),
        totals.restores().totalNanos(),
        finished ? totals.queries().percentileNanos(50) : 0,
        finished ? totals.queries().percentileNanos(99) : 0,
        finished ? totals.restores().percentileNanos(50) : 0,
        finished ? totals.restores().percentileNanos(99) : 0,
        finished ? totals.publishes().percentileNanos(50) : 0,
        finished ? totals.publishes().percentileNanos(99) : 0,
        missed,
        missedEvicted);
  }

  /** Hits of all asked blocks, 0 to 1. */
  double hitRatio() {
    return askedBlocks == 0 ? 0 : (double) hitBlocks / askedBlocks;
  }

  /** Bytes a second of publishes. */
  double publishSpeed() {
    return publishNanos == 0 ? 0 : publishedBytes / (publishNanos / 1e9);
  }

  /** Bytes a second of restores. */
  double restoreSpeed() {
    return restoreNanos == 0 ? 0 : restoredBytes / (restoreNanos / 1e9);
  }

  String line() {
    try {
      return JSON.writeValueAsString(this);
    } catch (JacksonException impossible) {
      throw new IllegalStateException("numbers and a name have no JSON", impossible);
    }
  }

  static EngineReport parse(String line) {
    try {
      return JSON.readValue(line, EngineReport.class);
    } catch (JacksonException malformed) {
      throw new IllegalStateException("the engine said \"" + line + "\"", malformed);
    }
  }
}
