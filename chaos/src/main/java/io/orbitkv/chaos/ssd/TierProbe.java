package io.orbitkv.chaos.ssd;

import com.fasterxml.jackson.databind.JsonNode;
import io.orbitkv.chaos.Operator;
import io.orbitkv.manager.workload.ManagerProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What a daemon says of its SSD tier to an operator, who sees it in three places. */
final class TierProbe {
  private static final long DRAIN_MILLIS = 15_000;
  private static final List<String> UNDER_WAY = List.of("tickets", "publishes", "restores");
  private static final List<String> OF_SESSIONS = List.of("leases", "sessions");
  private static final List<String> OF_DISK =
      List.of("tasks", "queuedBytes", "loadingBytes", "loadingBlocks");

  private final ManagerProcess manager;
  private final Operator operator;

  TierProbe(ManagerProcess manager) throws IOException {
    this.manager = manager;
    this.operator = Operator.of(manager);
  }

  /** A number of the tier in {@code /status}. */
  long figure(String name) throws IOException {
    return operator.status().required("ssd").required(name).asLong();
  }

  /**
   * Waits until a number of the tier in {@code /status} has grown, and compares {@code /metrics}.
   *
   * @param metric what it is called there
   */
  void awaitGrowth(String name, long from, String metric) throws IOException, InterruptedException {
    long deadline = deadline(DRAIN_MILLIS);
    while (figure(name) <= from) {
      giveUp(deadline, name + " stays at " + from + ", nothing is reported");
      Thread.sleep(20);
    }
    long status = figure(name);
    if (operator.metric(metric) < status) {
      throw new AssertionError(
          "%s is %d in /status and less as %s".formatted(name, status, metric));
    }
  }

  /** Waits until the daemon says everywhere that its SSD tier is ill, with these words. */
  void awaitIll(String words, long limitMillis) throws IOException, InterruptedException {
    long deadline = deadline(limitMillis);
    while (!ill(words)) {
      giveUp(deadline, "no word of '" + words + "': " + operator.health());
      Thread.sleep(20);
    }
  }

  private boolean ill(String words) throws IOException {
    JsonNode health = operator.health();
    return health.required("status").asText().equals("DEGRADED")
        && health.required("problems").toString().contains(words)
        && operator.status().required("ssd").required("problems").toString().contains(words)
        && operator.metric("orbitkv_ssd_healthy") == 0
        && operator.metric("orbitkv_healthy") == 0;
  }

  /** Waits until it says everywhere that all is well. */
  void awaitWell(long limitMillis) throws IOException, InterruptedException {
    long deadline = deadline(limitMillis);
    while (!well()) {
      giveUp(deadline, "the tier does not recover: " + operator.health());
      Thread.sleep(50);
    }
  }

  private boolean well() throws IOException {
    return operator.health().required("status").asText().equals("SERVING")
        && operator.status().required("ssd").required("problems").isEmpty()
        && operator.metric("orbitkv_ssd_healthy") == 1
        && operator.metric("orbitkv_healthy") == 1;
  }

  /** Waits until nothing is under way any more, while nobody asks for anything. */
  void awaitDrained() throws IOException, InterruptedException {
    await(UNDER_WAY);
  }

  /** Waits until nothing is held for anybody, when nobody is connected. */
  void awaitEmpty() throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(UNDER_WAY);
    all.addAll(OF_SESSIONS);
    await(all);
    long charged = operator.status().required("budget").required("usedBytes").asLong();
    if (charged != 0) {
      throw new AssertionError("nobody is connected and is charged with bytes: " + charged);
    }
    if (operator.evictAll() <= 0) {
      throw new AssertionError("nothing was cached, nobody was tested");
    }
    await(all);
    if (operator.poolUsedBytes() != 0 || figure("usedBytes") != 0) {
      throw new AssertionError(
          "extents of nobody: %d bytes of the pool, %d on SSD"
              .formatted(operator.poolUsedBytes(), figure("usedBytes")));
    }
  }

  private void await(List<String> counts) throws IOException, InterruptedException {
    long deadline = deadline(DRAIN_MILLIS);
    for (String left = left(counts); !left.isEmpty(); left = left(counts)) {
      giveUp(deadline, "left over:" + left);
      Thread.sleep(20);
    }
  }

  private String left(List<String> counts) throws IOException {
    JsonNode status = operator.status();
    StringBuilder left = new StringBuilder();
    counts.forEach(name -> append(left, name, status.required(name).asLong()));
    OF_DISK.forEach(name -> append(left, name, status.required("ssd").required(name).asLong()));
    return left.toString();
  }

  private static void append(StringBuilder left, String name, long count) {
    if (count != 0) {
      left.append(' ').append(count).append(' ').append(name);
    }
  }

  private static long deadline(long millis) {
    return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private void giveUp(long deadline, String what) {
    if (!manager.isAlive()) {
      throw new AssertionError("the daemon died; see " + manager.log());
    }
    if (System.nanoTime() > deadline) {
      throw new AssertionError(what);
    }
  }
}
