package io.orbitkv.manager.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.catalog.inventory.Candidate;
import io.orbitkv.catalog.lookup.CatalogLookup;
import io.orbitkv.catalog.lookup.Exclusions;
import io.orbitkv.catalog.lookup.LookupResult;
import io.orbitkv.manager.Daemon;
import io.orbitkv.manager.cluster.Cluster;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.identity.BlockHash;
import io.orbitkv.state.identity.Checked;
import io.orbitkv.state.identity.InvalidField;
import io.orbitkv.state.identity.Limits;
import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.StateKey;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/** What operators can ask of a host's place among others. None of it asks the loop. */
final class ClusterApi {
  private static final Duration FIND_LIMIT = Duration.ofSeconds(2);

  private final Daemon daemon;

  ClusterApi(Daemon daemon) {
    this.daemon = daemon;
  }

  void addTo(HttpEndpoint http) {
    http.route("GET", "/cluster/members", request -> answer(request, ClusterFigures::members));
    http.route("GET", "/cluster/streams", request -> answer(request, ClusterFigures::streams));
    http.route("GET", "/catalog/placement", request -> answer(request, ClusterFigures::placement));
    http.route("GET", "/catalog/find", this::find);
    new CatalogApi(this::cluster).addTo(http);
  }

  /** Who has a block, as a query would ask. */
  private HttpAnswer find(HttpRequest request) throws BadRequest {
    request.only("namespace", "group", "key");
    StateKey key = key(request);
    CatalogLookup lookup = cluster().lookup();
    LookupResult result = lookup.find(List.of(key), new Exclusions(), FIND_LIMIT).join();
    ObjectNode body = HttpAnswer.JSON.createObjectNode();
    body.put("catalogShard", CatalogShards.of(key)).put("answered", result.unanswered() == 0);
    ArrayNode list = body.putArray("candidates");
    for (Candidate each : result.byKey().getFirst()) {
      list.addObject()
          .put("node", each.owner().node().text())
          .put("epoch", each.owner().epoch())
          .put("tier", each.tier().name())
          .put("generation", each.generation())
          .put("bytes", each.lengthBytes());
    }
    return HttpAnswer.json(200, body);
  }

  private static StateKey key(HttpRequest request) throws BadRequest {
    Namespace namespace = checked(Namespace.of(request.required("namespace")));
    BlockHash hash = checked(BlockHash.ofHex(request.required("key")));
    return checked(
        StateKey.of(namespace, request.number("group", 0, 0, Limits.MAX_GROUP_ID), hash));
  }

  private static <T> T checked(Checked<T> value) throws BadRequest {
    return switch (value) {
      case Checked.Valid<T>(T valid) -> valid;
      case Checked.Invalid<T>(InvalidField problem) ->
          throw new BadRequest(400, "BAD_PARAMETER", problem.toString(), "correct it");
    };
  }

  private HttpAnswer answer(HttpRequest request, Function<Cluster, ObjectNode> show)
      throws BadRequest {
    request.only();
    return HttpAnswer.json(200, show.apply(cluster()));
  }

  private Cluster cluster() throws BadRequest {
    if (daemon.cluster().isEmpty()) {
      throw new BadRequest(
          404,
          "WORKS_ALONE",
          "this Manager works alone",
          "start it with --node-id, --etcd-endpoints, --peer-addr, --catalog-addr,"
              + " --transfer-addr and --peer-token-file");
    }
    return daemon.cluster().get();
  }
}
