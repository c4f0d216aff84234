package io.orbitkv.manager.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.workload.ManagerProcess;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a Manager still has to write to SSD. A trace is played faster than any disk writes; whoever
 * wants to know what the tier hits, and not how fast the disk is, lets it catch up now and then.
 */
final class SsdWrites {
  private static final Pattern ADDRESS = Pattern.compile(" http=(\\S+)");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int HTTP_MILLIS = 10_000;
  private static final int PAUSE_MILLIS = 2;
  private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(5);

  private final String address;
  private long waitedNanos;
  private long skippedBlocks;

  private SsdWrites(String address) {
    this.address = address;
  }

  /**
   * Those of a Manager that serves HTTP.
   *
   * @throws Failure if its log does not say where
   */
  static SsdWrites of(ManagerProcess manager) {
    try {
      List<String> lines = Files.readAllLines(manager.log());
      for (String line : lines.reversed()) {
        Matcher matcher = ADDRESS.matcher(line);
        if (matcher.find()) {
          return new SsdWrites(matcher.group(1));
        }
      }
    } catch (IOException unreadable) {
      throw new Failure("cannot read " + manager.log(), "", unreadable);
    }
    throw new Failure(manager.log() + " does not say where HTTP is served", "");
  }

  /**
   * Waits until nothing is to be written.
   *
   * @throws Failure if that takes minutes, or the tier is ill
   */
  void await() {
    long start = System.nanoTime();
    for (JsonNode ssd = status(); !written(ssd); ssd = status()) {
      if (System.nanoTime() - start > PATIENCE_NANOS) {
        throw new Failure("the disk does not catch up: " + ssd, "give a faster --ssd-folder");
      }
      pause();
    }
    waitedNanos += System.nanoTime() - start;
  }

  private boolean written(JsonNode ssd) {
    skippedBlocks = ssd.path("skippedBlocks").asLong();
    if (ssd.path("asideBlocks").asLong() > 0) {
      throw new Failure("the disk does not take every write: " + ssd, "look at the Manager's log");
    }
    return ssd.path("queuedBytes").asLong() + ssd.path("backlogBlocks").asLong() == 0;
  }

  private JsonNode status() {
    try {
      HttpURLConnection connection =
          (HttpURLConnection) URI.create("http://" + address + "/status").toURL().openConnection();
      connection.setConnectTimeout(HTTP_MILLIS);
      connection.setReadTimeout(HTTP_MILLIS);
      try (InputStream body = connection.getInputStream()) {
        return JSON.readTree(body).path("ssd");
      }
    } catch (IOException unreachable) {
      throw new Failure("no answer from " + address, "", unreachable);
    }
  }

  private static void pause() {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new Failure("interrupted", "", stop);
    }
  }

  /** Nanoseconds spent waiting. */
  long waitedNanos() {
    return waitedNanos;
  }

  /** Blocks that left memory before they were written, by the last look. */
  long skippedBlocks() {
    return skippedBlocks;
  }
}
