package io.orbitkv.manager.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.orbitkv.client.ClientOptions;
import io.orbitkv.manager.ProcessDaemon;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A Manager among others, in a process of its own, and its operator. */
final class TestHost implements AutoCloseable {
  static final String TOKEN = "a-token-of-all-hosts-of-this-test";

  /** Long enough for three daemons that start on two busy processors. */
  static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern HTTP = Pattern.compile(" http=127\\.0\\.0\\.1:(\\d+)");

  final String node;
  final ProcessDaemon process;

  TestHost(Path folder, String node, String etcd, String token, String... more) throws IOException {
    this.node = node;
    Path own = Files.createDirectories(folder.resolve(node));
    Path secret = own.resolve("token");
    Files.writeString(secret, token + "\n");
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    List<String> options =
        new ArrayList<>(
            List.of(
                "--http-addr",
                "127.0.0.1:0",
                "--node-id",
                node,
                "--etcd-endpoints",
                etcd,
                "--peer-addr",
                "127.0.0.1:0",
                "--catalog-addr",
                "127.0.0.1:" + EtcdServer.freePort(),
                "--transfer-addr",
                "127.0.0.1:0",
                "--transfer-engine",
                "tcp",
                "--peer-token-file",
                secret.toString(),
                "--member-ttl",
                "4s"));
    options.addAll(List.of(more));
    this.process = new ProcessDaemon(own, options.toArray(String[]::new));
  }

  TestHost start() throws IOException {
    process.start();
    return this;
  }

  void awaitServing() throws IOException {
    process.awaitServing();
  }

  ClientOptions clientOptions() {
    return ClientOptions.of(process.socketPath());
  }

  JsonNode get(String path) throws IOException {
    return request("GET", path);
  }

  JsonNode post(String path) throws IOException {
    return request("POST", path);
  }

  private JsonNode request(String method, String path) throws IOException {
    Matcher port = HTTP.matcher(process.output());
    if (!port.find()) {
      throw new IOException(node + " does not say where it serves HTTP");
    }
    HttpURLConnection connection =
        (HttpURLConnection)
            URI.create("http://127.0.0.1:" + port.group(1) + path).toURL().openConnection();
    connection.setConnectTimeout(5_000);
    connection.setReadTimeout(30_000);
    connection.setRequestMethod(method);
    try (var in =
        connection.getResponseCode() < 400
            ? connection.getInputStream()
            : connection.getErrorStream()) {
      return JSON.readTree(in);
    } catch (IOException silent) {
      throw new IOException(
          "%s does not answer (%s):%n%s".formatted(node, process.state(), process.output()),
          silent);
    }
  }

  /** Asks again and again until the answer is as it should become. */
  JsonNode await(String path, Predicate<JsonNode> good) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    JsonNode last = get(path);
    while (!good.test(last)) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError(
            node + " " + path + " stays " + last.toPrettyString() + "\n" + process.output());
      }
      Thread.sleep(50);
      last = get(path);
    }
    return last;
  }

  /** Waits until it sees so many hosts, the catalog is founded and its streams are current. */
  void awaitCluster(int members) throws IOException, InterruptedException {
    await(
        "/status",
        status -> {
          JsonNode cluster = status.path("cluster");
          return cluster.path("members").asInt() == members
              && cluster.path("admission").path("state").asText().equals("OPEN")
              && cluster.path("catalog").path("founded").asBoolean()
              && cluster.path("streams").path("all").asInt() > 0
              && cluster.path("streams").path("open").asInt()
                  == cluster.path("streams").path("all").asInt();
        });
  }

  @Override
  public void close() {
    process.close();
  }
}
