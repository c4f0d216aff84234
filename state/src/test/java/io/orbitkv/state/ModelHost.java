package io.orbitkv.state;

import io.orbitkv.state.HostEvent.BlocksEvicted;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostEvent.SlicesReserved;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * The fold once more, as slowly and literally as the facts' comments read: no index, no counter,
 * pins counted by looking at everything that is open. It knows legal facts only.
 */
final class ModelHost {
  record Namespace(int shards, Map<Integer, Boolean> replicated) {}

  record Session(long instanceId, int namespaceId, int shard) {}

  record Publish(long sessionId, int slice, List<Long> blocks, int bytes) {}

  record Holder(long sessionId, List<GroupLease> held) {}

  record Ticket(long sessionId, List<Long> awaited) {}

  record Slice(long offset, int bytes, long generation, long checksum, boolean published) {}

  static final class Block {
    final int namespaceId;
    final int groupId;
    final String key;
    final int slices;
    final Map<Integer, Slice> slice = new TreeMap<>();
    final Map<Integer, ModelTier.Copy> ssd = new TreeMap<>();
    boolean loading;
    BlockState state = BlockState.RESERVED;

    Block(int namespaceId, int groupId, String key, int slices) {
      this.namespaceId = namespaceId;
      this.groupId = groupId;
      this.key = key;
      this.slices = slices;
    }
  }

  final Map<Integer, Namespace> namespaces = new TreeMap<>();
  final Map<Long, Integer> instances = new TreeMap<>();
  final Map<Long, Session> sessions = new TreeMap<>();
  final Map<Long, Long> superseded = new TreeMap<>();
  final Map<Long, Block> blocks = new TreeMap<>();
  final Map<Long, Publish> publishes = new TreeMap<>();
  final Map<Long, Holder> leases = new TreeMap<>();
  final Map<Long, Holder> restores = new TreeMap<>();
  final Map<Long, Ticket> tickets = new TreeMap<>();
  final Map<String, Long> counts = new HashMap<>();
  final ModelTier tier = new ModelTier(this);
  final ModelPeers peers = new ModelPeers(this);

  /** What the last fact freed, sorted. */
  List<String> freed = new ArrayList<>();

  void apply(HostEvent event) {
    freed = new ArrayList<>();
    switch (event) {
      case HostEvent.EpochStarted _, HostEvent.EpochEnded _ -> {}
      case HostEvent.NamespaceBound e -> {
        Map<Integer, Boolean> replicated = new TreeMap<>();
        e.format().groups().forEach(g -> replicated.put(g.groupId(), g.replicated()));
        namespaces.put(e.namespaceId(), new Namespace(e.shardCount(), replicated));
      }
      case HostEvent.NamespaceUnbound e -> namespaces.remove(e.namespaceId());
      case HostEvent.InstanceRegistered e -> instances.put(e.instanceId(), e.namespaceId());
      case HostEvent.InstanceCleaned e -> instances.remove(e.instanceId());
      case HostEvent.SessionOpened e -> {
        int namespaceId = Objects.requireNonNull(instances.get(e.instanceId()));
        sessions.put(e.sessionId(), new Session(e.instanceId(), namespaceId, e.shard()));
        if (e.supersedes() != 0 && sessions.containsKey(e.supersedes())) {
          superseded.put(e.supersedes(), e.sessionId());
        }
      }
      case HostEvent.SessionClosed e -> {
        sessions.remove(e.sessionId());
        superseded.remove(e.sessionId());
      }
      case SlicesReserved e -> reserve(e);
      case HostEvent.SlicesPublished e -> published(e);
      case HostEvent.PublishAborted e -> {
        Publish publish = Objects.requireNonNull(publishes.remove(e.publishId()));
        for (long id : publish.blocks) {
          Block block = block(id);
          free(Objects.requireNonNull(block.slice.remove(publish.slice)));
          if (block.slice.isEmpty() && block.state == BlockState.RESERVED) {
            blocks.remove(id);
          }
        }
        sweep();
      }
      case BlocksEvicted e -> {
        for (long id : ids(e.blocks())) {
          block(id).state = BlockState.EVICTED;
        }
        count("evicted", e.blocks().size());
        sweep();
      }
      case HostEvent.LeaseGranted e -> {
        leases.put(e.leaseId(), new Holder(e.sessionId(), e.held()));
        answers(e.answers());
      }
      case HostEvent.LeaseReleased e -> {
        leases.remove(e.leaseId());
        sweep();
      }
      case HostEvent.TicketOpened e ->
          tickets.put(e.ticketId(), new Ticket(e.sessionId(), ids(e.awaited())));
      case HostEvent.TicketClosed e -> tickets.remove(e.ticketId());
      case HostEvent.RestoreStarted e ->
          restores.put(
              e.restoreId(),
              new Holder(e.sessionId(), Objects.requireNonNull(leases.get(e.leaseId())).held()));
      case HostEvent.RestoreFinished e -> {
        restores.remove(e.restoreId());
        sweep();
      }
      case HostEvent.QueryMissed e -> answers(e.answers());
      case HostEvent.RequestRefused _ -> count("refused", 1);
      case HostEvent.RegistrationRefused _,
          HostEvent.VerifyFailed _,
          HostEvent.DigestRecorded _,
          HostEvent.PlacementSeen _ -> {}
      case HostEvent.PeerFact e -> {
        peers.apply(e);
        sweep();
      }
      case HostEvent.TierFact e -> {
        tier.apply(e);
        sweep();
      }
    }
    freed.sort(null);
  }

  Block block(long id) {
    return Objects.requireNonNull(blocks.get(id), () -> "block " + id);
  }

  int slice(int namespaceId, int groupId, int shard) {
    Namespace namespace = Objects.requireNonNull(namespaces.get(namespaceId));
    return Objects.requireNonNull(namespace.replicated.get(groupId)) ? 0 : shard;
  }

  private void reserve(SlicesReserved e) {
    int namespaceId = Objects.requireNonNull(sessions.get(e.sessionId())).namespaceId;
    int slice = slice(namespaceId, e.groupId(), e.shard());
    Namespace namespace = Objects.requireNonNull(namespaces.get(namespaceId));
    boolean replicated = Objects.requireNonNull(namespace.replicated.get(e.groupId()));
    int slices = replicated ? 1 : namespace.shards;
    List<Long> ids = ids(e.blocks());
    int fresh = 0;
    for (int i = 0; i < ids.size(); i++) {
      long id = ids.get(i);
      if (!blocks.containsKey(id)) {
        blocks.put(id, new Block(namespaceId, e.groupId(), e.newKeys().hex(fresh++), slices));
      }
      long offset = e.extentOffsets().get(i);
      long generation = e.extentGenerations().get(i);
      block(id).slice.put(slice, new Slice(offset, e.extentBytes(), generation, 0, false));
    }
    publishes.put(e.publishId(), new Publish(e.sessionId(), slice, ids, e.extentBytes()));
  }

  private void published(HostEvent.SlicesPublished e) {
    Publish publish = Objects.requireNonNull(publishes.remove(e.publishId()));
    for (int i = 0; i < publish.blocks.size(); i++) {
      Block block = block(publish.blocks.get(i));
      Slice old = Objects.requireNonNull(block.slice.get(publish.slice));
      block.slice.put(
          publish.slice,
          new Slice(old.offset, old.bytes, old.generation, e.checksums().get(i), true));
      boolean whole =
          block.slice.size() == block.slices
              && block.slice.values().stream().allMatch(Slice::published);
      if (whole && block.state == BlockState.RESERVED) {
        block.state = BlockState.SEALED;
        count("sealed", 1);
      }
    }
    count("bytes", (long) publish.blocks.size() * publish.bytes);
    sweep();
  }

  int pins(long id) {
    int pins = (block(id).loading ? 1 : 0) + peers.pins(id);
    for (Publish publish : publishes.values()) {
      pins += publish.blocks.contains(id) ? 1 : 0;
    }
    for (Holder holder : leases.values()) {
      pins += holds(holder, id);
    }
    for (Holder holder : restores.values()) {
      pins += holds(holder, id);
    }
    return pins;
  }

  private static int holds(Holder holder, long id) {
    return (int) holder.held.stream().filter(group -> group.blocks().contains(id)).count();
  }

  /** Evicted blocks that nobody holds go. */
  private void sweep() {
    for (long id : List.copyOf(blocks.keySet())) {
      Block block = block(id);
      if (block.state == BlockState.EVICTED && pins(id) == 0) {
        block.slice.values().forEach(this::free);
        tier.freeCopy(block);
        blocks.remove(id);
      }
    }
  }

  void free(Slice slice) {
    freed.add("@" + slice.offset + "+" + slice.bytes + " gen " + slice.generation);
  }

  private void answers(List<GroupAnswer> answers) {
    count("queries", 1);
    for (GroupAnswer answer : answers) {
      count("asked", answer.askedBlocks());
      count("hit", answer.hitBlocks());
    }
  }

  void count(String what, long amount) {
    counts.merge(what, amount, Long::sum);
  }

  long counted(String what) {
    return counts.getOrDefault(what, 0L);
  }

  static List<Long> ids(LongRanges ranges) {
    List<Long> ids = new ArrayList<>();
    ranges.forEach(ids::add);
    return ids;
  }

  static byte[] bytes(String key) {
    return HexFormat.of().parseHex(key);
  }
}
