package io.orbitkv.manager.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.client.control.Health;
import io.orbitkv.core.Command;
import io.orbitkv.core.Inspection;
import io.orbitkv.core.Reply;
import io.orbitkv.core.ReplySink;
import io.orbitkv.manager.Daemon;
import io.orbitkv.manager.NearNames;
import io.orbitkv.manager.Version;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * What operators can ask over HTTP. Health, version and metrics' own counters need nobody; the rest
 * asks the loop, at most {@value #ASKERS} at a time, so that health always finds a thread.
 */
public final class OperatorApi {
  private static final int ASKERS = 3;
  private static final Duration LOOP_LIMIT = Duration.ofSeconds(2);
  private static final Duration CLEANUP_LIMIT = Duration.ofSeconds(30);

  private final Daemon daemon;
  private final MetricsPage metrics;
  private final Semaphore askers = new Semaphore(ASKERS);

  public OperatorApi(Daemon daemon) {
    this.daemon = daemon;
    this.metrics = new MetricsPage(daemon);
  }

  /** Adds every route. */
  public void addTo(HttpEndpoint http) {
    http.route("GET", "/health", this::health);
    http.route("GET", "/version", this::version);
    http.route("GET", "/status", this::status);
    http.route("GET", "/metrics", this::metrics);
    http.route("GET", "/instances", this::instances);
    http.route("GET", "/namespaces", this::namespaces);
    http.route("GET", "/sessions", this::sessions);
    http.route("GET", "/leases", this::leases);
    http.route("GET", "/blocks", this::blocks);
    http.route("POST", "/instances/cleanup", this::cleanup);
    http.route("POST", "/cache/evict", this::evict);
    new ClusterApi(daemon).addTo(http);
  }

  // ---- without the loop ------------------------------------------------------------------------

  private HttpAnswer health(HttpRequest request) throws BadRequest {
    request.only();
    Health.State state = daemon.health().state();
    ObjectNode body = HttpAnswer.JSON.createObjectNode();
    body.put("status", state.name());
    ArrayNode problems = body.putArray("problems");
    daemon.health().problems().forEach(problems::add);
    body.put("epoch", daemon.epoch());
    body.put("uptimeMillis", daemon.uptimeMillis());
    PoolFigures.health(body, daemon);
    return HttpAnswer.json(state == Health.State.SERVING ? 200 : 503, body);
  }

  private HttpAnswer version(HttpRequest request) throws BadRequest {
    request.only();
    return HttpAnswer.json(200, HttpAnswer.JSON.createObjectNode().put("version", Version.TEXT));
  }

  // ---- through the loop ------------------------------------------------------------------------

  private HttpAnswer status(HttpRequest request) throws BadRequest {
    request.only();
    Inspection.StatusAnswer status = (Inspection.StatusAnswer) inspect(new Inspection.Status());
    return HttpAnswer.json(200, StatusJson.of(daemon, status));
  }

  private HttpAnswer metrics(HttpRequest request) throws BadRequest {
    request.only();
    String text =
        ask(
            sink -> new Command.Inspect(new Inspection.Status(), sink),
            metrics::onLoop,
            LOOP_LIMIT);
    return HttpAnswer.text("text/plain; version=0.0.4; charset=utf-8", text);
  }

  private HttpAnswer instances(HttpRequest request) throws BadRequest {
    request.only();
    ObjectNode body = HttpAnswer.JSON.createObjectNode();
    ArrayNode list = body.putArray("instances");
    for (var each :
        ((Inspection.InstancesAnswer) inspect(new Inspection.Instances())).instances()) {
      list.addObject()
          .put("instanceId", each.instanceId())
          .put("instance", each.instance())
          .put("namespace", each.namespace())
          .put("sessions", each.sessions())
          .put("cleaning", each.cleaning())
          .put("budgetUsedBytes", each.budgetUsedBytes());
    }
    return HttpAnswer.json(200, body);
  }

  private HttpAnswer namespaces(HttpRequest request) throws BadRequest {
    request.only();
    ObjectNode body = HttpAnswer.JSON.createObjectNode();
    ArrayNode list = body.putArray("namespaces");
    for (var each : bound()) {
      list.addObject()
          .put("namespace", each.namespace())
          .put("model", each.model())
          .put("shards", each.shards())
          .put("blocks", each.blocks())
          .put("instances", each.instances());
    }
    return HttpAnswer.json(200, body);
  }

  private List<Inspection.NamespaceView> bound() throws BadRequest {
    return ((Inspection.NamespacesAnswer) inspect(new Inspection.Namespaces())).namespaces();
  }

  /** Nothing is said of a namespace that is not there: an empty list would look like an answer. */
  private void mustBeBound(String namespace) throws BadRequest {
    List<String> names = bound().stream().map(Inspection.NamespaceView::namespace).toList();
    if (!names.contains(namespace)) {
      List<String> near = NearNames.of(namespace, names, 3);
      throw new BadRequest(
          404,
          "NO_SUCH_NAMESPACE",
          "no namespace is called " + namespace,
          near.isEmpty()
              ? "orbitkv namespaces lists them"
              : "did you mean %s? orbitkv namespaces lists them"
                  .formatted(String.join(", ", near)));
    }
  }

  private HttpAnswer sessions(HttpRequest request) throws BadRequest {
    request.only();
    ObjectNode body = HttpAnswer.JSON.createObjectNode();
    ArrayNode list = body.putArray("sessions");
    for (var each : ((Inspection.SessionsAnswer) inspect(new Inspection.Sessions())).sessions()) {
      list.addObject()
          .put("sessionId", each.sessionId())
          .put("instanceId", each.instanceId())
          .put("instance", each.instance())
          .put("namespace", each.namespace())
          .put("shard", each.shard())
          .put("role", each.role().name())
          .put("pid", each.pid())
          .put("uid", each.uid())
          .put("openedAtMillis", each.openedAtMicros() / 1_000)
          .put("draining", each.draining())
          .put("leases", each.leases())
          .put("tickets", each.tickets())
          .put("publishes", each.publishes())
          .put("restores", each.restores());
    }
    return HttpAnswer.json(200, body);
  }

  private HttpAnswer leases(HttpRequest request) throws BadRequest {
    request.only("after", "limit");
    Inspection.LeasesAnswer answer =
        (Inspection.LeasesAnswer) inspect(new Inspection.Leases(after(request), limit(request)));
    ObjectNode body = HttpAnswer.JSON.createObjectNode();
    ArrayNode list = body.putArray("leases");
    for (var each : answer.leases()) {
      list.addObject()
          .put("leaseId", each.leaseId())
          .put("sessionId", each.sessionId())
          .put("request", each.request())
          .put("blocks", each.blocks())
          .put("chargedBytes", each.chargedBytes())
          .put("runningRestores", each.runningRestores())
          .put("expiresAtMillis", each.expiresAtMicros() / 1_000);
    }
    body.put("more", answer.more());
    return HttpAnswer.json(200, body);
  }

  private HttpAnswer blocks(HttpRequest request) throws BadRequest {
    request.only("namespace", "after", "limit");
    mustBeBound(request.required("namespace"));
    Inspection.BlocksAnswer answer =
        (Inspection.BlocksAnswer)
            inspect(
                new Inspection.Blocks(
                    request.required("namespace"), after(request), limit(request)));
    ObjectNode body = HttpAnswer.JSON.createObjectNode();
    ArrayNode list = body.putArray("blocks");
    for (var each : answer.blocks()) {
      list.addObject()
          .put("blockId", each.blockId())
          .put("namespace", each.namespace())
          .put("groupId", each.groupId())
          .put("key", each.keyHex())
          .put("state", each.state().name())
          .put("pins", each.pins())
          .put("bytes", each.bytes())
          .put("tier", tier(each));
    }
    body.put("more", answer.more());
    return HttpAnswer.json(200, body);
  }

  /** Where the block's bytes are. */
  private static String tier(Inspection.BlockView block) {
    return switch (block.state()) {
      case RESERVED, SEALED, EVICTED -> block.onSsd() ? "dram+ssd" : "dram";
      case DEMOTED, LOADING -> "ssd";
      case UNVERIFIED -> block.onSsd() ? "unverified+ssd" : "unverified";
    };
  }

  private static long after(HttpRequest request) throws BadRequest {
    return request.number("after", 0, 0, Long.MAX_VALUE);
  }

  private static int limit(HttpRequest request) throws BadRequest {
    return (int) request.number("limit", 100, 1, 4_096);
  }

  // ---- levers ----------------------------------------------------------------------------------

  private HttpAnswer cleanup(HttpRequest request) throws BadRequest {
    request.only("instance");
    String instance = request.required("instance");
    Reply reply =
        ask(sink -> new Command.CleanupInstance(instance, 0, sink), each -> each, CLEANUP_LIMIT);
    Reply.InstanceCleaned cleaned = expect(Reply.InstanceCleaned.class, reply);
    if (cleaned.instanceId() == 0) {
      throw new BadRequest(
          404,
          "NO_SUCH_INSTANCE",
          "no instance is called " + instance,
          "orbitkv instances lists them");
    }
    return HttpAnswer.json(
        200,
        HttpAnswer.JSON
            .createObjectNode()
            .put("instance", instance)
            .put("sessionsClosed", cleaned.sessionsClosed())
            .put("leasesReleased", cleaned.leasesReleased())
            .put("ticketsClosed", cleaned.ticketsClosed()));
  }

  private HttpAnswer evict(HttpRequest request) throws BadRequest {
    request.only();
    ObjectNode wanted = request.object();
    Command.EvictSelector selector = EvictBody.selector(wanted);
    if (wanted.has("namespace")) {
      mustBeBound(wanted.get("namespace").textValue());
    }
    Reply reply = ask(sink -> new Command.Evict(selector, sink), each -> each, CLEANUP_LIMIT);
    Reply.Evicted evicted = expect(Reply.Evicted.class, reply);
    return HttpAnswer.json(
        200,
        HttpAnswer.JSON
            .createObjectNode()
            .put("blocks", evicted.blocks())
            .put("freedBytes", evicted.freedBytes())
            .put("retainedBytes", evicted.retainedBytes()));
  }

  // ---- asking ----------------------------------------------------------------------------------

  private Inspection.Answer inspect(Inspection what) throws BadRequest {
    Reply reply = ask(sink -> new Command.Inspect(what, sink), each -> each, LOOP_LIMIT);
    return expect(Reply.Inspected.class, reply).answer();
  }

  private static <T extends Reply> T expect(Class<T> type, Reply reply) throws BadRequest {
    if (reply instanceof Reply.Refused refused) {
      throw new BadRequest(
          switch (refused.category()) {
            case USER -> 400;
            case STALE -> 409;
            case RESOURCE, UNAVAILABLE -> 503;
            case INTERNAL -> 500;
          },
          refused.code().name(),
          refused.message(),
          refused.remedy());
    }
    return type.cast(reply);
  }

  private <T> T ask(Function<ReplySink, Command> command, Function<Reply, T> onLoop, Duration limit)
      throws BadRequest {
    if (!acquire()) {
      throw busy(ASKERS + " requests wait for the loop already");
    }
    try {
      Optional<T> answer = daemon.loop().ask(command, onLoop, limit);
      if (answer.isPresent()) {
        return answer.get();
      }
    } finally {
      askers.release();
    }
    throw busy("the loop did not answer within " + limit.toSeconds() + " s");
  }

  private boolean acquire() {
    try {
      return askers.tryAcquire(50, TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static BadRequest busy(String message) {
    return new BadRequest(503, "LOOP_BUSY", message, "retry; /health tells how the loop is");
  }
}
