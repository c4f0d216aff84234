package io.orbitkv.state;

import io.orbitkv.state.HostEvent.GrantEnd;
import io.orbitkv.state.HostEvent.GroupRead;
import io.orbitkv.state.HostEvent.RemoteFailure;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Draws legal facts about other hosts for a {@link ModelHost}. */
final class PeerFactGenerator {
  private final Random random;
  private final ModelHost model;
  private final FactGenerator facts;
  private final ArrayDeque<Long> offsets;
  private final Map<Long, Long> generations;

  PeerFactGenerator(
      Random random,
      ModelHost model,
      FactGenerator facts,
      ArrayDeque<Long> offsets,
      Map<Long, Long> generations) {
    this.random = random;
    this.model = model;
    this.facts = facts;
    this.offsets = offsets;
    this.generations = generations;
  }

  @Nullable HostEvent draw() {
    return switch (random.nextInt(8)) {
      case 0 -> granted();
      case 1 -> {
        Long id = facts.any(model.peers.grants.keySet());
        yield id == null ? null : new HostEvent.GrantClosed(id, facts.any(GrantEnd.values()), 3);
      }
      case 2, 3, 4 -> begun();
      case 5, 6 -> {
        Long id = facts.any(model.peers.reads.keySet());
        yield id == null ? null : ended(id);
      }
      default -> {
        Long id = facts.any(model.peers.reads.keySet());
        yield id == null || model.peers.quarantined.contains(id)
            ? new HostEvent.PlacementSeen(3, 9, List.of("a", "b"))
            : new HostEvent.RemoteReadQuarantined(id, RemoteFailure.DEADLINE, "test");
      }
    };
  }

  private static PeerId peer() {
    return new PeerId("b", 7, -9);
  }

  private @Nullable HostEvent granted() {
    LongRanges.Builder ids = new LongRanges.Builder();
    model.blocks.forEach(
        (id, block) -> {
          if (block.state == BlockState.SEALED && random.nextInt(3) == 0) {
            ids.add(id);
          }
        });
    return ids.size() == 0
        ? null
        : new HostEvent.GrantOpened(facts.takeId(), -1, 5, peer(), ids.build(), 4096, 99);
  }

  private @Nullable HostEvent begun() {
    Integer namespaceId = facts.any(model.namespaces.keySet());
    if (namespaceId == null) {
      return null;
    }
    int shards = Objects.requireNonNull(model.namespaces.get(namespaceId)).shards();
    List<GroupRead> groups = new ArrayList<>();
    List<Long> places = new ArrayList<>();
    for (int groupId = 0; groupId < 2; groupId++) {
      int slices = groupId == 1 ? 1 : shards;
      List<byte[]> keys = keys(namespaceId, groupId, slices, places);
      if (keys.isEmpty()) {
        continue;
      }
      int keyBytes = keys.getFirst().length;
      byte[] packed = new byte[keys.size() * keyBytes];
      for (int i = 0; i < keys.size(); i++) {
        System.arraycopy(keys.get(i), 0, packed, i * keyBytes, keyBytes);
      }
      long[] bytes = new long[slices];
      java.util.Arrays.fill(bytes, FactGenerator.EXTENT_BYTES);
      groups.add(
          new GroupRead(
              groupId,
              facts.takeBlockIds(keys.size()),
              Keys.ofPacked(keyBytes, packed),
              Longs.of(bytes)));
    }
    return groups.isEmpty()
        ? null
        : new HostEvent.RemoteReadBegun(
            facts.takeId(),
            peer(),
            namespaceId,
            List.copyOf(groups),
            Longs.of(places.stream().mapToLong(Long::longValue).toArray()),
            Longs.of(places.stream().mapToLong(o -> generations.merge(o, 1L, Long::sum)).toArray()),
            0,
            1,
            "f");
  }

  /** Keys that nobody has, as far as there is memory for them. */
  private List<byte[]> keys(int namespaceId, int groupId, int slices, List<Long> places) {
    List<byte[]> keys = new ArrayList<>();
    int first = random.nextInt(FactGenerator.KEYS);
    for (int i = 0; i < random.nextInt(5) && offsets.size() >= slices; i++) {
      byte[] key = new byte[namespaceId % 3 == 0 ? 8 : 13];
      key[0] = (byte) (first + i);
      if (facts.findable(namespaceId, groupId, HexFormat.of().formatHex(key)) == null) {
        keys.add(key);
        for (int slice = 0; slice < slices; slice++) {
          places.add(offsets.remove());
        }
      }
    }
    return keys;
  }

  private HostEvent ended(long readId) {
    LongRanges.Builder arrived = new LongRanges.Builder();
    List<Long> sums = new ArrayList<>();
    if (!model.peers.quarantined.contains(readId)) {
      for (long id : Objects.requireNonNull(model.peers.reads.get(readId))) {
        if (random.nextInt(4) > 0) {
          arrived.add(id);
          for (int slice = 0; slice < model.block(id).slices; slice++) {
            sums.add(random.nextLong());
          }
        }
      }
    }
    return new HostEvent.RemoteReadEnded(
        readId,
        arrived.build(),
        Longs.of(sums.stream().mapToLong(Long::longValue).toArray()),
        facts.any(RemoteFailure.values()),
        "",
        1,
        2,
        4096,
        17);
  }

  /** Mostly illegal. */
  HostEvent wild(long id, LongRanges blocks) {
    return switch (random.nextInt(5)) {
      case 0 -> new HostEvent.GrantOpened(id + 20, 1, 2, peer(), blocks, 1, 1);
      case 1 -> new HostEvent.GrantClosed(id, GrantEnd.RELEASED, 0);
      case 2 -> new HostEvent.RemoteReadQuarantined(id, RemoteFailure.DEADLINE, "w");
      case 3 ->
          new HostEvent.RemoteReadEnded(
              id, LongRanges.EMPTY, Longs.EMPTY, RemoteFailure.STALE, "w", 0, 0, 0, 0);
      default ->
          new HostEvent.RemoteReadEnded(
              id,
              blocks,
              Longs.of(random.longs(blocks.size()).toArray()),
              RemoteFailure.NONE,
              "",
              0,
              0,
              0,
              0);
    };
  }
}
