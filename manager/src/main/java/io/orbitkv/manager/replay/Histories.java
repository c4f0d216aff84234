package io.orbitkv.manager.replay;

import io.orbitkv.manager.replay.BlockLife.Mark;
import io.orbitkv.manager.replay.BlockLife.Slice;
import io.orbitkv.state.BoundNamespace;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent.BlocksAdopted;
import io.orbitkv.state.HostEvent.BlocksDemoted;
import io.orbitkv.state.HostEvent.BlocksEvicted;
import io.orbitkv.state.HostEvent.BlocksKept;
import io.orbitkv.state.HostEvent.BlocksNotAdopted;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostEvent.LeaseGranted;
import io.orbitkv.state.HostEvent.Operation;
import io.orbitkv.state.HostEvent.PublishAborted;
import io.orbitkv.state.HostEvent.RegistrationRefused;
import io.orbitkv.state.HostEvent.RequestRefused;
import io.orbitkv.state.HostEvent.SlicesPublished;
import io.orbitkv.state.HostEvent.SlicesReserved;
import io.orbitkv.state.HostEvent.SsdWritten;
import io.orbitkv.state.HostEvent.TierFact;
import io.orbitkv.state.HostEvent.VerifyFailed;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Keys;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import io.orbitkv.state.identity.GroupSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Collects, in one pass, the lives of the blocks a question is about, and what else may explain why
 * a key has none. It holds nothing of any other block, so the length of the journal does not
 * matter.
 */
final class Histories implements Scan.Visitor {
  private static final int MAX_LIVES = 100_000;
  private static final int MAX_REFUSALS = 1_000;

  /** A refusal that may have kept blocks out of a namespace. */
  record Refusal(Mark mark, String namespace, String what) {}

  private final KeyMatcher keys;
  private final Set<Long> ids;
  private final boolean withLeases;

  /** In order of their beginning. */
  final List<BlockLife> lives = new ArrayList<>();

  private final Map<String, List<BlockLife>> byKey = new HashMap<>();
  final List<Refusal> refusals = new ArrayList<>();
  boolean tooMany;

  final SsdHistory ssd = new SsdHistory();

  private final Map<Long, BlockLife> byId = new HashMap<>();
  private final Map<Long, BlockLife> alive = new HashMap<>();

  /** Publishes under way that concern a block in question. */
  private final Map<Long, List<BlockLife>> publishing = new HashMap<>();

  /** The first publish of each namespace and group, by {@code name/group}. */
  private final Map<String, Mark> firstPublish = new HashMap<>();

  /**
   * @param withLeases whether to count the leases of each block too
   */
  Histories(KeyMatcher keys, Set<Long> ids, boolean withLeases) {
    this.keys = keys;
    this.ids = ids;
    this.withLeases = withLeases;
  }

  /** Takes the blocks that a checkpoint has. */
  void seed(HostState state, Names names) {
    for (BoundNamespace namespace : state.namespaces()) {
      for (GroupSpec group : namespace.format().groups()) {
        if (namespace.blocks() > 0) {
          firstPublish.put(place(namespace.name(), group.groupId()), new Mark(0, 0));
        }
      }
    }
    if (state.position() == 0) {
      return;
    }
    byte[] key = new byte[Keys.MAX_KEY_BYTES];
    state.forEachBlock(
        slot -> {
          state.copyKey(slot, key, 0);
          if (keys.matches(key, 0, state.keyBytes(slot)) || ids.contains(state.blockId(slot))) {
            seed(state, slot, HexFormat.of().formatHex(key, 0, state.keyBytes(slot)), names);
          }
        });
  }

  private void seed(HostState state, int slot, String keyHex, Names names) {
    Mark before = new Mark(state.reservedAtPosition(slot), state.atMicros());
    int namespaceId = state.namespaceId(slot);
    int groupId = state.groupId(slot);
    BlockLife life =
        new BlockLife(
            state.blockId(slot),
            namespaceId,
            groupId,
            keyHex,
            names.slices(namespaceId, groupId),
            before,
            true);
    for (int slice = 0; slice < state.slices(slot); slice++) {
      if (state.reserved(slot, slice)) {
        Slice there = new Slice(0, 0, "", before);
        there.published = state.present(slot, slice) ? before : null;
        life.slices.put(slice, there);
      }
    }
    life.sealed = state.stored(slot) || state.unverified(slot) ? before : null;
    if (state.onSsd(slot)) {
      LongRanges id = LongRanges.of(life.blockId, 1);
      life.ssd.add(before, new SsdWritten(id, Longs.EMPTY, Longs.EMPTY, Longs.EMPTY));
      if (!state.sealed(slot) && !state.unverified(slot)) {
        life.ssd.add(before, new BlocksDemoted(id, EvictionCause.CAPACITY, 0, ""));
      }
    }
    life.kept = state.unverified(slot) ? before : null;
    add(life);
  }

  private void add(BlockLife life) {
    if (lives.size() == MAX_LIVES) {
      tooMany = true;
      return;
    }
    lives.add(life);
    byKey.computeIfAbsent(life.keyHex, _ -> new ArrayList<>()).add(life);
    byId.put(life.blockId, life);
    alive.put(life.blockId, life);
  }

  /** The blocks that had a key, in whatever namespace and group, in order of their beginning. */
  List<BlockLife> ofKey(String keyHex) {
    return byKey.getOrDefault(keyHex, List.of());
  }

  /** Whether anything had been published to a namespace's group before a position. */
  boolean anyPublishBefore(String namespace, int groupId, long position) {
    Mark first = firstPublish.get(place(namespace, groupId));
    return first != null && first.position() < position;
  }

  private static String place(String namespace, int groupId) {
    return namespace + "/" + groupId;
  }

  @Override
  public boolean visit(Fact fact, Links links, Names names) {
    Mark mark = new Mark(fact.position(), fact.atMicros());
    if (fact.event() instanceof TierFact tierFact) {
      ssd.visit(mark, tierFact, alive.values(), life -> end(life, mark));
    }
    switch (fact.event()) {
      case SlicesReserved event -> reserve(mark, event, names);
      case SlicesPublished event -> publish(mark, event);
      case PublishAborted event -> abort(mark, event);
      case BlocksEvicted event -> evict(mark, event);
      case BlocksKept event -> each(event.blocks(), life -> life.kept = mark);
      case BlocksAdopted event -> each(event.blocks(), life -> life.verified = mark);
      case BlocksNotAdopted event -> each(event.blocks(), life -> damaged(life, mark));
      case VerifyFailed event -> {
        BlockLife life = byId.get(event.blockId());
        if (life != null) {
          life.verifyFailures.add(event);
        }
      }
      case LeaseGranted event -> {
        if (withLeases) {
          lease(mark, event);
        }
      }
      case RegistrationRefused event ->
          note(
              mark,
              event.namespace(),
              "the registration of %s was refused: %s"
                  .formatted(event.instance(), FactText.refusal(event)));
      case RequestRefused event -> {
        if (event.operation() == Operation.PUBLISH) {
          note(
              mark,
              names.namespaceName(names.namespaceOf(event.sessionId())),
              "a publish of %s%s was refused: %s: %s"
                  .formatted(
                      names.who(event.sessionId()),
                      event.request().isEmpty() ? "" : " for request " + event.request(),
                      Words.of(event.category()),
                      event.reason()));
        }
      }
      default -> {}
    }
    return true;
  }

  private void note(Mark mark, String namespace, String what) {
    if (refusals.size() == MAX_REFUSALS) {
      refusals.removeFirst();
    }
    refusals.add(new Refusal(mark, namespace, what));
  }

  private void reserve(Mark mark, SlicesReserved event, Names names) {
    int namespaceId = names.namespaceOf(event.sessionId());
    firstPublish.putIfAbsent(place(names.namespaceName(namespaceId), event.groupId()), mark);
    Keys fresh = event.newKeys();
    List<BlockLife> concerned = new ArrayList<>();
    for (BlockLife life : alive.values()) {
      if (life.sealed == null && event.blocks().contains(life.blockId)) {
        concerned.add(life);
      }
    }
    for (int i = 0; i < fresh.size(); i++) {
      long id = event.firstNewBlockId() + i;
      if (keys.matches(fresh.packed(), fresh.offset(i), fresh.keyBytes())
          || (!ids.isEmpty() && ids.contains(id))) {
        BlockLife life =
            new BlockLife(
                id,
                namespaceId,
                event.groupId(),
                fresh.hex(i),
                names.slices(namespaceId, event.groupId()),
                mark,
                false);
        add(life);
        concerned.add(life);
      }
    }
    if (!concerned.isEmpty()) {
      publishing.put(event.publishId(), concerned);
      for (BlockLife life : concerned) {
        life.slices.put(
            life.slicesNeeded == 1 ? 0 : event.shard(),
            new Slice(event.publishId(), event.sessionId(), event.request(), mark));
      }
    }
  }

  private void publish(Mark mark, SlicesPublished event) {
    List<BlockLife> concerned = publishing.remove(event.publishId());
    if (concerned == null) {
      return;
    }
    for (BlockLife life : concerned) {
      slicesOf(life, event.publishId()).forEach(slice -> slice.published = mark);
      if (life.sealed == null && life.ended == null && life.complete()) {
        life.sealed = mark;
      }
    }
  }

  private void abort(Mark mark, PublishAborted event) {
    List<BlockLife> concerned = publishing.remove(event.publishId());
    if (concerned == null) {
      return;
    }
    for (BlockLife life : concerned) {
      for (Slice slice : slicesOf(life, event.publishId())) {
        slice.aborted = mark;
        slice.abortReason = event.reason();
      }
      if (life.ended == null && life.withoutSlice()) {
        end(life, mark);
      }
    }
  }

  private static List<Slice> slicesOf(BlockLife life, long publishId) {
    return life.slices.values().stream().filter(slice -> slice.publishId == publishId).toList();
  }

  private void evict(Mark mark, BlocksEvicted event) {
    each(
        event.blocks(),
        life -> {
          life.eviction = event;
          end(life, mark);
        });
  }

  /** Those of the blocks that are alive and in question. */
  private void each(LongRanges blocks, Consumer<BlockLife> happens) {
    List<BlockLife> concerned = new ArrayList<>();
    for (BlockLife life : alive.values()) {
      if (blocks.contains(life.blockId)) {
        concerned.add(life);
      }
    }
    concerned.forEach(happens);
  }

  private void damaged(BlockLife life, Mark mark) {
    life.verified = mark;
    if (life.ssd.before(mark.position()).copied() == null) {
      life.damagedInPool = true;
      end(life, mark);
    } else {
      LongRanges id = LongRanges.of(life.blockId, 1);
      life.ssd.add(mark, new BlocksDemoted(id, EvictionCause.VERIFY_FAILED, 0, ""));
    }
  }

  private void end(BlockLife life, Mark mark) {
    life.ended = mark;
    alive.remove(life.blockId);
  }

  private void lease(Mark mark, LeaseGranted event) {
    for (BlockLife life : alive.values()) {
      for (GroupLease held : event.held()) {
        if (held.blocks().contains(life.blockId)) {
          life.leases++;
          life.lastLease = mark;
          life.lastLeaseRequest = event.request();
        }
      }
    }
  }
}
