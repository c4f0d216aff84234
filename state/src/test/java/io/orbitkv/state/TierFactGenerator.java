package io.orbitkv.state;

import io.orbitkv.state.HostEvent.AdoptionFailure;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostEvent.SsdEvictionCause;
import io.orbitkv.state.HostEvent.TierTrouble;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Draws legal facts about the SSD tier of a {@link ModelHost}. */
final class TierFactGenerator {
  private static final int FILES = 2;
  private static final int EXTENTS_PER_FILE = 40;
  private static final long FILE_BYTES = (long) EXTENTS_PER_FILE * FactGenerator.EXTENT_BYTES;

  private final Random random;
  private final ModelHost model;
  private final ArrayDeque<Long> poolOffsets;
  private final Map<Long, Long> poolGenerations;
  private final ArrayDeque<long[]> free = new ArrayDeque<>();
  private long generation = 1;

  TierFactGenerator(
      Random random,
      ModelHost model,
      ArrayDeque<Long> poolOffsets,
      Map<Long, Long> poolGenerations) {
    this.random = random;
    this.model = model;
    this.poolOffsets = poolOffsets;
    this.poolGenerations = poolGenerations;
    for (int file = 0; file < FILES; file++) {
      for (long at = 0; at < FILE_BYTES; at += FactGenerator.EXTENT_BYTES) {
        free.add(new long[] {file, at});
      }
    }
  }

  HostEvent opened() {
    return new HostEvent.SsdTierOpened(7, 9, Longs.of(FILE_BYTES, FILE_BYTES));
  }

  HostEvent poolOpened() {
    return new HostEvent.PoolOpened(3, 5);
  }

  void freed(int file, long offset) {
    free.add(new long[] {file, offset});
  }

  @Nullable HostEvent draw() {
    return switch (random.nextInt(16)) {
      case 12 -> kept();
      case 13, 14, 15 -> verified();
      case 0, 1, 2 -> written();
      case 3, 4 -> demoted();
      case 5, 6 -> loading();
      case 7, 8 -> {
        LongRanges ids = some(block -> block.loading, 2);
        yield ids.isEmpty() ? null : new HostEvent.BlocksLoaded(ids, 4096, 17);
      }
      case 9 -> {
        LongRanges ids = some(block -> block.loading, 2);
        LoadFailure[] reasons = LoadFailure.values();
        yield ids.isEmpty()
            ? null
            : new HostEvent.LoadFailed(ids, reasons[random.nextInt(reasons.length)], "test");
      }
      case 10 -> {
        LongRanges ids =
            some(
                block ->
                    !block.ssd.isEmpty()
                        && block.state != BlockState.EVICTED
                        && block.state != BlockState.LOADING,
                4);
        SsdEvictionCause[] causes = SsdEvictionCause.values();
        yield ids.isEmpty()
            ? null
            : new HostEvent.SsdEvicted(ids, causes[random.nextInt(causes.length)], 0, "");
      }
      default -> rare();
    };
  }

  private HostEvent rare() {
    return switch (random.nextInt(5)) {
      case 3 -> poolOpened();
      case 0 -> new HostEvent.TierDegraded(TierTrouble.DISK_FULL, "test");
      case 1 -> new HostEvent.TierRecovered(TierTrouble.DISK_FULL);
      case 2 -> new HostEvent.SsdSkipped(LongRanges.of(1, 3), HostEvent.SsdSkip.QUEUE_FULL);
      default -> opened();
    };
  }

  private @Nullable HostEvent kept() {
    LongRanges.Builder ids = new LongRanges.Builder();
    model.blocks.forEach(
        (id, block) -> {
          if (block.state == BlockState.SEALED && model.pins(id) == 0 && random.nextInt(4) == 0) {
            ids.add(id);
          }
        });
    return ids.size() == 0 ? null : new HostEvent.BlocksKept(ids.build());
  }

  private @Nullable HostEvent verified() {
    LongRanges ids = some(block -> block.state == BlockState.UNVERIFIED, 2);
    if (ids.isEmpty()) {
      return null;
    }
    return random.nextInt(3) > 0
        ? new HostEvent.BlocksAdopted(ids, 512, 3)
        : new HostEvent.BlocksNotAdopted(ids, AdoptionFailure.CHECKSUM, "test");
  }

  private LongRanges some(Predicate<ModelHost.Block> wanted, int oneOf) {
    LongRanges.Builder ids = new LongRanges.Builder();
    model.blocks.forEach(
        (id, block) -> {
          if (wanted.test(block) && random.nextInt(oneOf) == 0) {
            ids.add(id);
          }
        });
    return ids.build();
  }

  private @Nullable HostEvent written() {
    LongRanges.Builder ids = new LongRanges.Builder();
    List<long[]> places = new ArrayList<>();
    model.blocks.forEach(
        (id, block) -> {
          if (block.state == BlockState.SEALED
              && block.ssd.isEmpty()
              && free.size() >= block.slices
              && random.nextInt(3) == 0) {
            ids.add(id);
            for (int slice = 0; slice < block.slices; slice++) {
              places.add(free.remove());
            }
          }
        });
    return ids.size() == 0
        ? null
        : new HostEvent.SsdWritten(
            ids.build(),
            Longs.of(places.stream().mapToLong(place -> place[0]).toArray()),
            Longs.of(places.stream().mapToLong(place -> place[1]).toArray()),
            Longs.of(places.stream().mapToLong(_ -> generation++).toArray()));
  }

  private @Nullable HostEvent demoted() {
    LongRanges.Builder ids = new LongRanges.Builder();
    model.blocks.forEach(
        (id, block) -> {
          boolean inDram = block.state == BlockState.SEALED || block.state == BlockState.UNVERIFIED;
          if (inDram && !block.ssd.isEmpty() && model.pins(id) == 0 && random.nextInt(2) == 0) {
            ids.add(id);
          }
        });
    return ids.size() == 0
        ? null
        : new HostEvent.BlocksDemoted(ids.build(), EvictionCause.CAPACITY, 1, "d");
  }

  private @Nullable HostEvent loading() {
    LongRanges.Builder ids = new LongRanges.Builder();
    List<Long> offsets = new ArrayList<>();
    model.blocks.forEach(
        (id, block) -> {
          if (block.state == BlockState.DEMOTED
              && poolOffsets.size() >= block.slices
              && random.nextInt(2) == 0) {
            ids.add(id);
            for (int slice = 0; slice < block.slices; slice++) {
              offsets.add(poolOffsets.remove());
            }
          }
        });
    return ids.size() == 0
        ? null
        : new HostEvent.BlocksLoading(
            ids.build(),
            Longs.of(offsets.stream().mapToLong(Long::longValue).toArray()),
            Longs.of(
                offsets.stream()
                    .mapToLong(offset -> poolGenerations.merge(offset, 1L, Long::sum))
                    .toArray()),
            0,
            1,
            "l");
  }

  /** Mostly illegal. */
  HostEvent wild(LongRanges blocks) {
    int slices = blocks.size();
    Longs offsets =
        Longs.of(
            random
                .longs(slices, 0, EXTENTS_PER_FILE)
                .map(at -> at * FactGenerator.EXTENT_BYTES)
                .toArray());
    Longs generations = Longs.of(random.longs(slices, 1, 9).toArray());
    return switch (random.nextInt(5)) {
      case 3 -> new HostEvent.BlocksKept(blocks);
      case 4 -> new HostEvent.BlocksAdopted(blocks, 1, 1);
      case 0 ->
          new HostEvent.SsdWritten(
              blocks, Longs.of(random.longs(slices, 0, 3).toArray()), offsets, generations);
      case 1 -> new HostEvent.BlocksLoading(blocks, offsets, generations, 0, 0, "w");
      default -> new HostEvent.BlocksLoaded(blocks, 1, 1);
    };
  }
}
