package io.orbitkv.manager.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.handoff.Targets;
import io.orbitkv.catalog.membership.HostSet;
import io.orbitkv.catalog.peer.CatalogAdmin;
import io.orbitkv.catalog.peer.HandoffOrder;
import io.orbitkv.catalog.peer.HandoffReport;
import io.orbitkv.catalog.placement.CatalogOrders;
import io.orbitkv.manager.cluster.Cluster;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import io.orbitkv.state.identity.Checked;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Orders to move catalog shards. They are answered when they are taken, not when they are done. */
final class CatalogApi {
  private static final long LIMIT_SECONDS = 20;

  /** The cluster of a request, or why there is none. */
  @FunctionalInterface
  interface Among {
    Cluster cluster() throws BadRequest;
  }

  private final Among among;

  CatalogApi(Among among) {
    this.among = among;
  }

  void addTo(HttpEndpoint http) {
    http.route("POST", "/catalog/handoff", this::handoff);
    http.route("POST", "/catalog/rollback", this::rollBack);
    http.route("POST", "/catalog/rebalance", this::rebalance);
    http.route("POST", "/catalog/drain", this::drain);
  }

  private HttpAnswer handoff(HttpRequest request) throws BadRequest {
    request.only("shard", "members");
    int shard = shard(request);
    List<NodeId> members = new ArrayList<>();
    for (String each : request.required("members").split(",", -1)) {
      members.add(node(each.strip()));
    }
    CatalogOrders orders = orders();
    Placement current = placements(orders, Set.of(shard)).getFirst();
    return answer(
        List.of(order(orders, new HandoffOrder.Start(shard, current.generation(), members))));
  }

  private HttpAnswer rollBack(HttpRequest request) throws BadRequest {
    request.only("shard");
    int shard = shard(request);
    CatalogOrders orders = orders();
    CompletableFuture<ObjectNode> shown =
        orders
            .handoff(new HandoffOrder.Show(shard))
            .thenCompose(
                report ->
                    report instanceof HandoffReport.Status status
                        ? orders.handoff(new HandoffOrder.RollBack(shard, status.attempt()))
                        : CompletableFuture.completedFuture(report))
            .thenApply(report -> json(shard, report))
            .toCompletableFuture();
    return answer(List.of(shown));
  }

  private HttpAnswer rebalance(HttpRequest request) throws BadRequest {
    request.only();
    Set<NodeId> live = live();
    int replicas = among.cluster().members().hosts().map(HostSet::replicationFactor).orElse(1);
    return all(placement -> Targets.rebalanced(placement, live, replicas));
  }

  private HttpAnswer drain(HttpRequest request) throws BadRequest {
    request.only("node");
    NodeId leaving = node(request.required("node"));
    Set<NodeId> live = live();
    return all(placement -> Targets.without(placement, Set.of(leaving), live));
  }

  private HttpAnswer all(Function<Placement, Optional<List<NodeId>>> target) throws BadRequest {
    CatalogOrders orders = orders();
    List<CompletableFuture<ObjectNode>> taken = new ArrayList<>();
    for (Placement placement : placements(orders, Set.of())) {
      target
          .apply(placement)
          .ifPresent(
              members ->
                  taken.add(
                      order(
                          orders,
                          new HandoffOrder.Start(
                              placement.catalogShard(), placement.generation(), members))));
    }
    return answer(taken);
  }

  private static CompletableFuture<ObjectNode> order(CatalogOrders orders, HandoffOrder order) {
    return orders
        .handoff(order)
        .thenApply(report -> json(order.catalogShard(), report))
        .toCompletableFuture();
  }

  private static ObjectNode json(int shard, HandoffReport report) {
    ObjectNode node = HttpAnswer.JSON.createObjectNode().put("catalogShard", shard);
    return switch (report) {
      case HandoffReport.Status status ->
          node.put("taken", true)
              .put("generation", status.current().generation())
              .put("attempt", status.attempt())
              .put("step", status.step())
              .put("progress", status.progress());
      case HandoffReport.Refused(Refusal refusal) ->
          node.put("taken", false)
              .put("category", refusal.category().name())
              .put("reason", refusal.reason())
              .put("remedy", refusal.remedy());
    };
  }

  private static HttpAnswer answer(List<CompletableFuture<ObjectNode>> orders) throws BadRequest {
    ObjectNode body = HttpAnswer.JSON.createObjectNode();
    ArrayNode list = body.putArray("orders");
    for (CompletableFuture<ObjectNode> each : orders) {
      list.add(await(each));
    }
    return HttpAnswer.json(200, body);
  }

  private static List<Placement> placements(CatalogOrders orders, Set<Integer> shards)
      throws BadRequest {
    return switch (await(orders.placements(shards).toCompletableFuture())) {
      case CatalogAdmin.Placements.Known(List<Placement> known) -> known;
      case CatalogAdmin.Placements.Refused(Refusal refusal) ->
          throw new BadRequest(503, refusal.category().name(), refusal.reason(), refusal.remedy());
    };
  }

  private static <T> T await(CompletableFuture<T> future) throws BadRequest {
    try {
      return future.orTimeout(LIMIT_SECONDS, TimeUnit.SECONDS).join();
    } catch (CompletionException late) {
      throw new BadRequest(
          503,
          "CATALOG_SILENT",
          "the catalog does not answer: " + late.getMessage(),
          "see that most of each catalog shard's members are there: orbitkv catalog placement");
    }
  }

  private CatalogOrders orders() throws BadRequest {
    return among
        .cluster()
        .orders()
        .orElseThrow(
            () -> new BadRequest(503, "NOT_BEGUN", "this host has not begun yet", "try again"));
  }

  private Set<NodeId> live() throws BadRequest {
    return among.cluster().members().members().keySet();
  }

  private static int shard(HttpRequest request) throws BadRequest {
    request.required("shard");
    return (int) request.number("shard", 0, 0, CatalogShards.COUNT - 1);
  }

  private static NodeId node(String text) throws BadRequest {
    return switch (NodeId.of(text)) {
      case Checked.Valid<NodeId>(NodeId node) -> node;
      case Checked.Invalid<NodeId>(var problem) ->
          throw new BadRequest(400, "BAD_PARAMETER", problem.toString(), "correct it");
    };
  }
}
