package io.orbitkv.catalog.raft;

import io.orbitkv.catalog.calls.Endpoint;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.NodeId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.jspecify.annotations.Nullable;

/**
 * What catalog shards and hosts are called in Raft. A group's id is computed of the cluster's name
 * and the catalog shard, so that every host knows all 16, and two clusters never meet in one. The
 * first member has the highest priority: since the placements of the 16 begin with different hosts,
 * so do their leaders.
 */
final class CatalogGroups {
  private final RaftGroupId[] ids = new RaftGroupId[CatalogShards.COUNT];
  private final Map<RaftGroupId, Integer> shards = new HashMap<>();
  private final Function<NodeId, Optional<Endpoint>> addresses;

  /**
   * @param addresses where a host's server listens, empty while that is not known
   */
  CatalogGroups(String cluster, Function<NodeId, Optional<Endpoint>> addresses) {
    this.addresses = addresses;
    for (int shard = 0; shard < ids.length; shard++) {
      String name = "orbitkv.catalog.1\0" + cluster + "\0" + shard;
      ids[shard] =
          RaftGroupId.valueOf(UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)));
      shards.put(ids[shard], shard);
    }
  }

  RaftGroupId id(int catalogShard) {
    return ids[catalogShard];
  }

  /** The catalog shard of a group; null if it is none of this cluster's. */
  @Nullable Integer shard(RaftGroupId id) {
    return shards.get(id);
  }

  static RaftPeerId peerId(NodeId node) {
    return RaftPeerId.valueOf(node.text());
  }

  /** The group of these members; empty while some address is not known. */
  Optional<RaftGroup> group(int catalogShard, List<NodeId> members) {
    List<RaftPeer> peers = peers(members, RaftPeerRole.FOLLOWER);
    return peers.size() == members.size()
        ? Optional.of(RaftGroup.valueOf(id(catalogShard), peers))
        : Optional.empty();
  }

  /** Those whose address is known. */
  List<RaftPeer> peers(List<NodeId> nodes, RaftPeerRole role) {
    List<RaftPeer> peers = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      int priority = role == RaftPeerRole.LISTENER ? 0 : nodes.size() - i;
      NodeId node = nodes.get(i);
      addresses
          .apply(node)
          .ifPresent(
              at ->
                  peers.add(
                      RaftPeer.newBuilder()
                          .setId(peerId(node))
                          .setAddress(at.toString())
                          .setPriority(priority)
                          .setStartupRole(role)
                          .build()));
    }
    return peers;
  }
}
