package io.orbitkv.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.orbitkv.manager.workload.ManagerProcess;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Speaks with a daemon as an operator does, over HTTP. */
public final class Operator {
  private static final Pattern ADDRESS = Pattern.compile(" http=(\\S+)");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int TIMEOUT_MILLIS = 10_000;

  private final ManagerProcess manager;
  private final String address;

  private Operator(ManagerProcess manager, String address) {
    this.manager = manager;
    this.address = address;
  }

  /**
   * The operator's way to a daemon that was started with {@code --http-addr}.
   *
   * @throws IllegalStateException if its log does not say where it listens
   */
  public static Operator of(ManagerProcess manager) throws IOException {
    List<String> lines = Files.readAllLines(manager.log());
    for (String line : lines.reversed()) {
      Matcher matcher = ADDRESS.matcher(line);
      if (matcher.find()) {
        return new Operator(manager, matcher.group(1));
      }
    }
    throw new IllegalStateException(manager.log() + " does not say where HTTP is served");
  }

  /** Evicts everything; returns how many blocks that were. */
  public long evictAll() throws IOException {
    HttpURLConnection connection = open("/cache/evict");
    connection.setRequestMethod("POST");
    connection.setDoOutput(true);
    connection.setRequestProperty("Content-Type", "application/json");
    try (OutputStream body = connection.getOutputStream()) {
      body.write("{\"all\": true}".getBytes(StandardCharsets.UTF_8));
    }
    return read(connection).path("blocks").asLong(-1);
  }

  /** Bytes of the pool that are taken. */
  public long poolUsedBytes() {
    return manager.health().poolUsedBytes();
  }

  /** The body of {@code GET /health}, which is 503 when the daemon is not well. */
  public JsonNode health() throws IOException {
    return read(open("/health"));
  }

  /**
   * The body of {@code GET /status}.
   *
   * @throws IOException if the daemon does not answer with it
   */
  public JsonNode status() throws IOException {
    return read(open("/status"));
  }

  /**
   * A sample of {@code GET /metrics} that has no labels.
   *
   * @throws IOException if it is not there
   */
  public double metric(String name) throws IOException {
    return samples(name + " ");
  }

  /**
   * The sum of the samples of a metric in {@code GET /metrics} that has labels.
   *
   * @throws IOException if there are none
   */
  public double sum(String name) throws IOException {
    return samples(name + "{");
  }

  private double samples(String prefix) throws IOException {
    double sum = 0;
    boolean found = false;
    try (InputStream body = open("/metrics").getInputStream()) {
      String page = new String(body.readAllBytes(), StandardCharsets.UTF_8);
      for (String line : page.split("\n", -1)) {
        if (line.startsWith(prefix)) {
          found = true;
          sum += Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
        }
      }
    }
    if (!found) {
      throw new IOException("there is no metric " + prefix);
    }
    return sum;
  }

  private HttpURLConnection open(String path) throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection) URI.create("http://" + address + path).toURL().openConnection();
    connection.setConnectTimeout(TIMEOUT_MILLIS);
    connection.setReadTimeout(TIMEOUT_MILLIS);
    return connection;
  }

  private static JsonNode read(HttpURLConnection connection) throws IOException {
    boolean well = connection.getResponseCode() < HttpURLConnection.HTTP_BAD_REQUEST;
    try (InputStream body = well ? connection.getInputStream() : connection.getErrorStream()) {
      return JSON.readTree(body);
    }
  }
}
