package io.orbitkv.manager.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.HttpURLConnection;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** How the commands that look at a running daemon reach it, and how they print. */
final class HttpOptions {
  private static final int CONNECT_MILLIS = 2_000;
  // The daemon answers what it is asked within 2 s, and ends a cleanup or an eviction within 30 s.
  private static final int GET_MILLIS = 5_000;
  private static final int POST_MILLIS = 35_000;
  private static final String OTHER_ADDRESS =
      "the daemon's log says at its start where it serves HTTP; name that with --http-addr";
  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  @Option(
      names = "--http-addr",
      paramLabel = "HOST:PORT",
      defaultValue = "${env:ORBITKV_HTTP_ADDR:-127.0.0.1:9091}",
      description = "Where the daemon serves HTTP; also ORBITKV_HTTP_ADDR. Default: 127.0.0.1:9091")
  private String address = "127.0.0.1:9091";

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec = CommandSpec.create();

  @Option(names = "--json", description = "Print the daemon's JSON.")
  boolean json;

  /** Gets a path. */
  JsonNode get(String path) {
    return request("GET", path, null);
  }

  /** Posts to a path. */
  JsonNode post(String path, @Nullable JsonNode body) {
    return request("POST", path, body == null ? JSON.createObjectNode() : body);
  }

  static String encoded(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8);
  }

  static void print(PrintWriter out, JsonNode node) {
    try {
      out.println(JSON.writeValueAsString(node));
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private JsonNode request(String method, String path, @Nullable JsonNode body) {
    if (!address.matches("(\\[[0-9A-Fa-f:.]+]|[^/:@?#\\s]+):[0-9]{1,5}")) {
      throw new ParameterException(
          spec.commandLine(),
          "--http-addr: \"" + address + "\" is not HOST:PORT such as 127.0.0.1:9091");
    }
    try {
      URI uri = URI.create("http://" + address + path);
      HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
      connection.setConnectTimeout(CONNECT_MILLIS);
      connection.setReadTimeout(body == null ? GET_MILLIS : POST_MILLIS);
      connection.setRequestMethod(method);
      if (body != null) {
        connection.setDoOutput(true);
        connection.setRequestProperty("Content-Type", "application/json");
        connection.getOutputStream().write(JSON.writeValueAsBytes(body));
      }
      int status = connection.getResponseCode();
      JsonNode answer =
          JSON.readTree(status < 400 ? connection.getInputStream() : connection.getErrorStream());
      if (!answer.isObject()) {
        throw new Failure("what answers at " + address + " is no OrbitKV daemon", OTHER_ADDRESS);
      }
      JsonNode error = answer.path("error");
      if (error.isObject()) {
        throw new Failure(
            error.path("code").asText() + ": " + error.path("message").asText(),
            error.path("remedy").asText());
      }
      return answer;
    } catch (JsonProcessingException other) {
      throw new Failure(
          "what answers at " + address + " is no OrbitKV daemon", OTHER_ADDRESS, other);
    } catch (SocketTimeoutException silent) {
      throw new Failure(
          "no answer from " + address + " in time",
          "the daemon is stopped, stuck or starved: look at its process and its log; if it stays so, kill -9"
              + " and start it again",
          silent);
    } catch (IOException | IllegalArgumentException unreachable) {
      throw new Failure(
          "no daemon answers at " + address + ": " + unreachable.getMessage(),
          "start one with: orbitkv manager; or name its address with --http-addr",
          unreachable);
    }
  }
}
