package io.orbitkv.state;

import io.orbitkv.state.HostEvent.AbortReason;
import io.orbitkv.state.HostEvent.CleanupReason;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.Operation;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.HostEvent.TicketEnd;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Draws facts that are legal in the state of a {@link ModelHost}, and facts that rarely are. */
final class FactGenerator {
  static final int EXTENT_BYTES = 4096;
  static final int EXTENTS = 256;

  static final int KEYS = 40;

  private final Random random;
  private final ModelHost model;
  private final ArrayDeque<Long> freeOffsets = new ArrayDeque<>();
  private final Map<Long, Long> generations = new HashMap<>();
  private final ArrayDeque<HostEvent> queued = new ArrayDeque<>();
  private long epoch = 1;
  private int nextNamespace = 1;
  private long nextId = 1;
  private long nextBlock = 1;
  private final TierFactGenerator tier;
  private final PeerFactGenerator peers;

  FactGenerator(Random random, ModelHost model) {
    this.random = random;
    this.model = model;
    for (long offset = 0; offset < EXTENTS * EXTENT_BYTES; offset += EXTENT_BYTES) {
      freeOffsets.add(offset);
    }
    tier = new TierFactGenerator(random, model, freeOffsets, generations);
    peers = new PeerFactGenerator(random, model, this, freeOffsets, generations);
    queued.add(new HostEvent.EpochStarted(epoch, "test", EXTENTS * EXTENT_BYTES, ""));
    queued.add(tier.opened());
    queued.add(tier.poolOpened());
  }

  void freedOnSsd(int file, long offset) {
    tier.freed(file, offset);
  }

  void freed(long offset) {
    freeOffsets.add(offset);
  }

  HostEvent next() {
    while (true) {
      HostEvent event = queued.isEmpty() ? draw() : queued.poll();
      if (event != null) {
        return event;
      }
    }
  }

  private @Nullable HostEvent draw() {
    if (random.nextInt(4) == 0) {
      return tier.draw();
    }
    if (random.nextInt(5) == 0) {
      return peers.draw();
    }
    int dice = random.nextInt(1000);
    if (dice < 250) {
      return reserve();
    } else if (dice < 430) {
      Long id = any(model.publishes.keySet());
      return id == null ? null : published(id);
    } else if (dice < 470) {
      Long id = any(model.publishes.keySet());
      return id == null ? null : new HostEvent.PublishAborted(id, any(AbortReason.values()));
    } else if (dice < 560) {
      return lease(0);
    } else if (dice < 640) {
      Long id = any(model.leases.keySet());
      return id == null ? null : new HostEvent.LeaseReleased(id, any(LeaseEnd.values()));
    } else if (dice < 700) {
      return restore();
    } else if (dice < 770) {
      Long id = any(model.restores.keySet());
      return id == null
          ? null
          : new HostEvent.RestoreFinished(id, any(RestoreOutcome.values()), 64, 9);
    } else if (dice < 850) {
      return evict();
    } else if (dice < 880) {
      return openTicket();
    } else if (dice < 910) {
      return closeTicket();
    } else if (dice < 930) {
      return new HostEvent.QueryMissed(1, "m", List.of(new GroupAnswer(0, 3, 0, Keys.EMPTY, 0)));
    } else if (dice < 940) {
      return new HostEvent.RequestRefused(
          1, "r", any(Operation.values()), any(RefusalCategory.values()), "busy");
    } else if (dice < 950) {
      return new HostEvent.DigestRecorded(dice, 0, 0);
    }
    return drawRegistration(random.nextInt(100));
  }

  private @Nullable HostEvent drawRegistration(int dice) {
    if (dice < 15) {
      return model.namespaces.size() < 3 ? bind() : null;
    } else if (dice < 20) {
      Integer id = any(model.namespaces.keySet());
      boolean used = id == null || model.instances.containsValue(id) || usesNamespace(id);
      return used ? null : new HostEvent.NamespaceUnbound(Objects.requireNonNull(id));
    } else if (dice < 40) {
      Integer namespace = any(model.namespaces.keySet());
      return namespace == null || model.instances.size() > 5
          ? null
          : new HostEvent.InstanceRegistered(nextId, "engine" + nextId++, namespace);
    } else if (dice < 80) {
      return open();
    } else if (dice < 90) {
      Long id = any(model.sessions.keySet());
      if (id != null) {
        close(id, SessionEnd.DISCONNECTED);
      }
      return null;
    } else if (dice < 95) {
      Long id = any(model.instances.keySet());
      boolean used =
          id == null || model.sessions.values().stream().anyMatch(s -> s.instanceId() == id);
      return used
          ? null
          : new HostEvent.InstanceCleaned(Objects.requireNonNull(id), any(CleanupReason.values()));
    }
    if (dice < 97) {
      crash();
    }
    return null;
  }

  private boolean usesNamespace(int id) {
    return model.blocks.values().stream().anyMatch(block -> block.namespaceId == id);
  }

  private HostEvent bind() {
    int id = nextNamespace++;
    return new HostEvent.NamespaceBound(
        id, "ns" + id, FactText.format(List.of("0", "1r")), 1 + random.nextInt(3));
  }

  private @Nullable HostEvent open() {
    Long instance = any(model.instances.keySet());
    if (instance == null || model.sessions.size() > 12) {
      return null;
    }
    int namespace = Objects.requireNonNull(model.instances.get(instance));
    int shard = random.nextInt(Objects.requireNonNull(model.namespaces.get(namespace)).shards());
    long supersedes = 0;
    for (Map.Entry<Long, ModelHost.Session> old : model.sessions.entrySet()) {
      if (old.getValue().instanceId() == instance
          && old.getValue().shard() == shard
          && !model.superseded.containsKey(old.getKey())
          && random.nextBoolean()) {
        supersedes = old.getKey();
      }
    }
    return new HostEvent.SessionOpened(
        nextId++, instance, shard, SessionRole.LOAD, 1, 2, supersedes);
  }

  /** Everything the session has open, in order, then the session. */
  private void close(long sessionId, SessionEnd reason) {
    model.publishes.forEach(
        (id, publish) -> {
          if (publish.sessionId() == sessionId) {
            queued.add(new HostEvent.PublishAborted(id, AbortReason.SESSION_CLOSED));
          }
        });
    model.restores.forEach(
        (id, restore) -> {
          if (restore.sessionId() == sessionId) {
            queued.add(new HostEvent.RestoreFinished(id, RestoreOutcome.CANCELLED, 0, 0));
          }
        });
    model.tickets.forEach(
        (id, ticket) -> {
          if (ticket.sessionId() == sessionId) {
            queued.add(new HostEvent.TicketClosed(id, TicketEnd.SESSION_CLOSED, 0));
          }
        });
    model.leases.forEach(
        (id, lease) -> {
          if (lease.sessionId() == sessionId) {
            queued.add(new HostEvent.LeaseReleased(id, LeaseEnd.SESSION_CLOSED));
          }
        });
    queued.add(new HostEvent.SessionClosed(sessionId, reason));
  }

  /** A new run that finds everything open. The pool is new, so all blocks go. */
  private void crash() {
    queued.add(new HostEvent.EpochStarted(++epoch, "test", EXTENTS * EXTENT_BYTES, ""));
    model.sessions.keySet().forEach(id -> close(id, SessionEnd.RESTART));
  }

  private @Nullable HostEvent reserve() {
    Long sessionId = liveSession();
    if (sessionId == null) {
      return null;
    }
    ModelHost.Session session = Objects.requireNonNull(model.sessions.get(sessionId));
    int groupId = random.nextInt(2);
    int slice = model.slice(session.namespaceId(), groupId, session.shard());
    LongRanges.Builder ids = new LongRanges.Builder();
    List<byte[]> keys = new ArrayList<>();
    List<Long> offsets = new ArrayList<>();
    int first = random.nextInt(KEYS);
    int keyBytes = session.namespaceId() % 3 == 0 ? 8 : 13;
    for (int i = 0; i < 1 + random.nextInt(6) && !freeOffsets.isEmpty(); i++) {
      byte[] key = new byte[keyBytes];
      key[0] = (byte) (first + i);
      Long known = findable(session.namespaceId(), groupId, HexFormat.of().formatHex(key));
      if (known == null) {
        ids.add(nextBlock + keys.size());
        keys.add(key);
        offsets.add(freeOffsets.poll());
      } else if (model.block(known).state == BlockState.RESERVED
          && !model.block(known).slice.containsKey(slice)) {
        ids.add(known);
        offsets.add(freeOffsets.poll());
      }
    }
    if (offsets.isEmpty()) {
      return null;
    }
    byte[] packed = new byte[keys.size() * keyBytes];
    for (int i = 0; i < keys.size(); i++) {
      System.arraycopy(keys.get(i), 0, packed, i * keyBytes, keyBytes);
    }
    long firstNew = nextBlock;
    nextBlock += keys.size();
    return new HostEvent.SlicesReserved(
        nextId++,
        sessionId,
        "p",
        groupId,
        session.shard(),
        ids.build(),
        firstNew,
        keys.isEmpty() ? Keys.EMPTY : Keys.ofPacked(keyBytes, packed),
        Longs.of(offsets.stream().mapToLong(Long::longValue).toArray()),
        Longs.of(offsets.stream().mapToLong(o -> generations.merge(o, 1L, Long::sum)).toArray()),
        EXTENT_BYTES);
  }

  @Nullable Long findable(int namespaceId, int groupId, String key) {
    for (Map.Entry<Long, ModelHost.Block> entry : model.blocks.entrySet()) {
      ModelHost.Block block = entry.getValue();
      if (block.namespaceId == namespaceId
          && block.groupId == groupId
          && block.key.equals(key)
          && block.state != BlockState.EVICTED) {
        return entry.getKey();
      }
    }
    return null;
  }

  private HostEvent published(long id) {
    int size = Objects.requireNonNull(model.publishes.get(id)).blocks().size();
    return new HostEvent.SlicesPublished(id, Longs.of(random.longs(size).toArray()));
  }

  private @Nullable HostEvent lease(long ticketId) {
    Long sessionId =
        ticketId == 0
            ? liveSession()
            : Long.valueOf(Objects.requireNonNull(model.tickets.get(ticketId)).sessionId());
    if (sessionId == null || model.superseded.containsKey(sessionId)) {
      return null;
    }
    int namespaceId = Objects.requireNonNull(model.sessions.get(sessionId)).namespaceId();
    List<GroupLease> held = new ArrayList<>();
    List<GroupAnswer> answers = new ArrayList<>();
    for (int groupId = 0; groupId < 2; groupId++) {
      LongRanges.Builder ids = new LongRanges.Builder();
      for (Map.Entry<Long, ModelHost.Block> entry : model.blocks.entrySet()) {
        ModelHost.Block block = entry.getValue();
        if (block.namespaceId == namespaceId
            && block.groupId == groupId
            && block.state == BlockState.SEALED
            && random.nextInt(3) == 0) {
          ids.add(entry.getKey());
        }
      }
      held.add(new GroupLease(groupId, 64, ids.build()));
      answers.add(new GroupAnswer(groupId, ids.size() + 1, ids.size(), Keys.EMPTY, 0));
    }
    return new HostEvent.LeaseGranted(
        nextId++, sessionId, "q", ticketId, 99, List.copyOf(held), List.copyOf(answers));
  }

  private @Nullable HostEvent restore() {
    Long leaseId = any(model.leases.keySet());
    if (leaseId == null) {
      return null;
    }
    long owner = Objects.requireNonNull(model.leases.get(leaseId)).sessionId();
    int namespaceId = Objects.requireNonNull(model.sessions.get(owner)).namespaceId();
    for (Map.Entry<Long, ModelHost.Session> entry : model.sessions.entrySet()) {
      if (entry.getValue().namespaceId() == namespaceId
          && !model.superseded.containsKey(entry.getKey())) {
        return new HostEvent.RestoreStarted(nextId++, entry.getKey(), leaseId, 1, 64);
      }
    }
    return null;
  }

  private @Nullable HostEvent evict() {
    LongRanges.Builder ids = new LongRanges.Builder();
    model.blocks.forEach(
        (id, block) -> {
          if (block.state != BlockState.EVICTED && random.nextInt(8) == 0) {
            ids.add(id);
          }
        });
    return new HostEvent.BlocksEvicted(ids.build(), any(EvictionCause.values()), 1, "e");
  }

  private @Nullable HostEvent openTicket() {
    Long sessionId = liveSession();
    LongRanges.Builder ids = new LongRanges.Builder();
    model.blocks.forEach(
        (id, block) -> {
          if (block.state == BlockState.RESERVED) {
            ids.add(id);
          }
        });
    return sessionId == null || ids.size() == 0
        ? null
        : new HostEvent.TicketOpened(nextId++, sessionId, "t", ids.build());
  }

  private @Nullable HostEvent closeTicket() {
    Long id = any(model.tickets.keySet());
    if (id == null) {
      return null;
    }
    HostEvent granted = random.nextBoolean() ? lease(id) : null;
    if (granted instanceof HostEvent.LeaseGranted lease) {
      queued.add(new HostEvent.TicketClosed(id, TicketEnd.READY, lease.leaseId()));
      return lease;
    }
    return new HostEvent.TicketClosed(id, TicketEnd.CANCELLED, 0);
  }

  private @Nullable Long liveSession() {
    Long id = any(model.sessions.keySet());
    return id == null || model.superseded.containsKey(id) ? null : id;
  }

  long takeId() {
    return nextId++;
  }

  /** The first of so many new ids of blocks. */
  long takeBlockIds(int count) {
    long first = nextBlock;
    nextBlock += count;
    return first;
  }

  <T> @Nullable T any(Collection<T> all) {
    return all.isEmpty() ? null : List.copyOf(all).get(random.nextInt(all.size()));
  }

  <T> T any(T[] all) {
    return all[random.nextInt(all.length)];
  }

  /** A fact with ids near the real ones: mostly illegal, sometimes not. */
  HostEvent wild() {
    long id = Math.max(0, nextId - random.nextInt(12));
    long other = Math.max(0, nextId - random.nextInt(40));
    LongRanges blocks =
        LongRanges.of(Math.max(1, nextBlock - random.nextInt(20)), 1 + random.nextInt(3));
    return switch (random.nextInt(20)) {
      case 18, 19 -> peers.wild(id, blocks);
      case 14 -> tier.wild(blocks);
      case 15 -> new HostEvent.SsdEvicted(blocks, HostEvent.SsdEvictionCause.CAPACITY, 0, "");
      case 16 -> new HostEvent.BlocksDemoted(blocks, EvictionCause.CAPACITY, 0, "");
      case 17 -> new HostEvent.LoadFailed(blocks, any(HostEvent.LoadFailure.values()), "w");
      case 0 ->
          new HostEvent.EpochStarted(epoch + random.nextInt(2), "w", EXTENTS * EXTENT_BYTES, "");
      case 1 -> new HostEvent.EpochEnded(epoch - random.nextInt(2), "w");
      case 2 -> new HostEvent.NamespaceUnbound(nextNamespace - random.nextInt(4));
      case 3 -> new HostEvent.InstanceCleaned(other, CleanupReason.REQUESTED);
      case 4 -> new HostEvent.SessionClosed(other, SessionEnd.CLEANED);
      case 5 -> new HostEvent.SlicesPublished(id, Longs.of(random.longs(2).toArray()));
      case 6 -> new HostEvent.PublishAborted(id, AbortReason.CANCELLED);
      case 7 -> new HostEvent.BlocksEvicted(blocks, EvictionCause.REQUESTED, 0, "");
      case 8 ->
          new HostEvent.LeaseGranted(
              id + 1, other, "w", 0, 1, List.of(new GroupLease(0, 0, blocks)), List.of());
      case 9 -> new HostEvent.LeaseReleased(id, LeaseEnd.RELEASED);
      case 10 -> new HostEvent.TicketClosed(id, TicketEnd.MISS, 0);
      case 11 -> new HostEvent.RestoreStarted(nextId + 1, other, id, 1, 1);
      case 12 -> new HostEvent.RestoreFinished(id, RestoreOutcome.DONE, 1, 1);
      default ->
          new HostEvent.SlicesReserved(
              nextId + 1,
              other,
              "w",
              random.nextInt(3),
              random.nextInt(3),
              blocks,
              nextBlock,
              Keys.EMPTY,
              Longs.of(random.longs(blocks.size(), 0, 250 * EXTENT_BYTES).toArray()),
              Longs.of(random.longs(blocks.size(), 1, 9).toArray()),
              EXTENT_BYTES);
    };
  }
}
