package io.orbitkv.manager.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A small HTTP server: a table of paths, small bodies, deadlines. Each of its few connections has a
 * virtual thread, so that one that sends its request slowly keeps nobody waiting.
 */
public final class HttpEndpoint implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HttpEndpoint.class);

  static {
    // The JDK's server waits for ever by default.
    System.setProperty("sun.net.httpserver.maxReqTime", "10");
    System.setProperty("sun.net.httpserver.maxRspTime", "10");
    System.setProperty("jdk.httpserver.maxConnections", "128");
    System.setProperty("sun.net.httpserver.nodelay", "true");
  }

  /** Answers one request. */
  interface Handler {
    HttpAnswer answer(HttpRequest request) throws BadRequest;
  }

  private record Route(String method, Handler handler) {}

  private final HttpServer server;
  private final ExecutorService threads;
  private final Map<String, Route> routes = new TreeMap<>();

  /**
   * Binds an address; {@link #start} serves it.
   *
   * @throws IOException if the address is taken or not this host's
   */
  public HttpEndpoint(InetSocketAddress address) throws IOException {
    server = HttpServer.create(address, 64);
    threads =
        Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual()
                .name("orbitkv-http-", 0)
                .uncaughtExceptionHandler((thread, why) -> LOG.error("{}", thread.getName(), why))
                .factory());
    server.setExecutor(threads);
  }

  /** The address that was bound, with its port. */
  public InetSocketAddress address() {
    return server.getAddress();
  }

  void route(String method, String path, Handler handler) {
    routes.put(path, new Route(method, handler));
  }

  /** Serves the routes. */
  public void start() {
    server.createContext("/", this::serve);
    server.start();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private void serve(HttpExchange exchange) {
    try (exchange) {
      send(exchange, answer(exchange));
    } catch (IOException gone) {
      LOG.debug("HTTP: {}", gone.toString());
    } catch (RuntimeException wrong) {
      LOG.error("HTTP: {} {} failed", exchange.getRequestMethod(), exchange.getRequestURI(), wrong);
    }
  }

  private HttpAnswer answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    Route route = routes.get(path);
    if (route == null) {
      return HttpAnswer.error(
          404,
          "NOT_FOUND",
          "there is no " + path,
          "use one of " + String.join(" ", routes.keySet()));
    }
    String method = exchange.getRequestMethod();
    boolean head = method.equals("HEAD") && route.method().equals("GET");
    if (!head && !method.equals(route.method())) {
      exchange.getResponseHeaders().set("Allow", route.method());
      return HttpAnswer.error(
          405, "METHOD_NOT_ALLOWED", path + " does not take " + method, "use " + route.method());
    }
    if (exchange.getRequestHeaders().containsKey("Origin")) {
      return HttpAnswer.error(
          403,
          "FROM_A_BROWSER",
          "a web page sent this request",
          "use orbitkv or curl; pages must not command a daemon on this host");
    }
    byte[] body;
    try (InputStream in = exchange.getRequestBody()) {
      body = in.readNBytes(HttpRequest.MAX_BODY_BYTES + 1);
    }
    if (body.length > HttpRequest.MAX_BODY_BYTES) {
      return HttpAnswer.error(
          413, "TOO_LARGE", "the body has more than 1 MiB", "split the request");
    }
    String rawQuery = exchange.getRequestURI().getRawQuery();
    return guarded(rawQuery == null ? "" : rawQuery, body, route.handler());
  }

  private static HttpAnswer guarded(String rawQuery, byte[] body, Handler handler) {
    try {
      return handler.answer(new HttpRequest(HttpRequest.parse(rawQuery), body));
    } catch (BadRequest bad) {
      return bad.answer();
    } catch (IllegalArgumentException malformed) {
      return HttpAnswer.error(
          400,
          "BAD_REQUEST",
          String.valueOf(malformed.getMessage()),
          "encode the parameters as a URL needs");
    }
  }

  private static void send(HttpExchange exchange, HttpAnswer answer) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", answer.contentType());
    exchange.getResponseHeaders().set("Cache-Control", "no-store");
    boolean head = exchange.getRequestMethod().equals("HEAD");
    exchange.sendResponseHeaders(
        answer.status(), head || answer.body().length == 0 ? -1 : answer.body().length);
    if (!head && answer.body().length > 0) {
      try (OutputStream out = exchange.getResponseBody()) {
        out.write(answer.body());
      }
    }
  }
}
