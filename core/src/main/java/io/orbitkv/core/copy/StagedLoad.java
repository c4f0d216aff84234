package io.orbitkv.core.copy;

import io.orbitkv.core.copy.RestoreCopy.GroupBlocks;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A restore through a staging ring. Without layer progress whole blocks go, group by group; with it
 * layers go in ascending order over all blocks, as many at a time as fit in a slot.
 */
final class StagedLoad extends StagedJob {
  /** A layer of a group in the order in which layers go. */
  private record Rank(int group, int layer, int number) {}

  private final RestoreCopy copy;
  private final long limitBytes;
  private final int granuleBytes;
  private final List<Rank> ranks = new ArrayList<>();

  /** Chunks under way that hold bytes of each rank. */
  private final int[] underWay;

  private int group;
  private int block;
  private int rank;
  private int announced;

  StagedLoad(RestoreCopy copy, long limitBytes, int granuleBytes) {
    super(copy);
    this.copy = copy;
    this.limitBytes = limitBytes;
    this.granuleBytes = granuleBytes;
    if (copy.layered()) {
      for (int g = 0; g < copy.groups().size(); g++) {
        GroupBlocks blocks = copy.groups().get(g);
        for (int l = 0; blocks.blockIds().length > 0 && l < blocks.layout().layerCount(); l++) {
          ranks.add(new Rank(g, l, blocks.layout().layer(l).layer()));
        }
      }
      ranks.sort(Comparator.comparingInt(Rank::number));
    }
    this.underWay = new int[ranks.size()];
    skipEmptyGroups();
  }

  @Override
  boolean planned() {
    return copy.layered() ? rank == ranks.size() : group == copy.groups().size();
  }

  @Override
  @Nullable Chunk plan() {
    if (planned()) {
      return null;
    }
    return copy.layered() ? planLayers() : planBlocks();
  }

  private Chunk planBlocks() {
    GroupBlocks blocks = copy.groups().get(group);
    Chunk chunk =
        Chunk.whole(blocks.layout(), blocks.extentOffsets(), block, limitBytes, granuleBytes);
    block = chunk.to();
    if (block == blocks.blockIds().length) {
      group++;
      block = 0;
      skipEmptyGroups();
    }
    return chunk;
  }

  private void skipEmptyGroups() {
    while (group < copy.groups().size() && copy.groups().get(group).blockIds().length == 0) {
      group++;
    }
  }

  private Chunk planLayers() {
    Rank first = ranks.get(rank);
    GroupBlocks blocks = copy.groups().get(first.group());
    int layers = 1;
    while (block == 0 && fits(first, layers + 1, blocks)) {
      layers++;
    }
    Chunk chunk =
        Chunk.layers(
            blocks.layout(),
            first.layer(),
            layers,
            blocks.extentOffsets(),
            block,
            limitBytes,
            granuleBytes);
    for (int r = rank; r < rank + layers; r++) {
      underWay[r]++;
    }
    block = chunk.to();
    if (block == blocks.blockIds().length) {
      rank += layers;
      block = 0;
    }
    return chunk;
  }

  /** Whether so many consecutive layers of all blocks go in one slot. */
  private boolean fits(Rank first, int layers, GroupBlocks blocks) {
    int past = first.layer() + layers;
    int at = rank + layers - 1;
    if (at >= ranks.size()
        || ranks.get(at).group() != first.group()
        || ranks.get(at).layer() != past - 1) {
      return false;
    }
    GroupLayout layout = blocks.layout();
    long bytes =
        layout.layerOffset(past - 1)
            + layout.layer(past - 1).blockBytes()
            - layout.layerOffset(first.layer());
    int count = blocks.blockIds().length;
    return (bytes + 64) * count <= limitBytes
        && (long) count * layers <= SlotBoard.MAX_SUMS
        && count <= SlotBoard.MAX_ENTRIES;
  }

  @Override
  int[] pages(Chunk chunk) {
    return blocks(chunk).destinationBlocks();
  }

  @Override
  SlotBoard.Work work(Chunk chunk) {
    return chunk.work(copy.operationId(), true, copy.verify());
  }

  private GroupBlocks blocks(Chunk chunk) {
    for (GroupBlocks each : copy.groups()) {
      if (each.layout() == chunk.layout()) {
        return each;
      }
    }
    throw new IllegalStateException("a chunk of no group of this restore");
  }

  /** The kernel has scattered the chunk; its sums must be those of the publish. */
  @Override
  void chunkDone(Chunk chunk, SlotBoard board, int slot) {
    GroupBlocks blocks = blocks(chunk);
    if (copy.verify()) {
      for (int i = chunk.from(); i < chunk.to(); i++) {
        long total = copy.layered() ? storedElsewhere(blocks, i, chunk) : 0;
        int at = (i - chunk.from()) * chunk.layerCount();
        for (int l = 0; l < chunk.layerCount(); l++) {
          total += board.sum(slot, at + l);
        }
        if (!copy.matches(blocks, i, total)) {
          return;
        }
      }
    }
    announce(chunk);
  }

  /** The sums of the layers that the chunk does not hold, as the publish left them. */
  private long storedElsewhere(GroupBlocks blocks, int i, Chunk chunk) {
    GroupLayout layout = blocks.layout();
    long total = 0;
    for (int l = 0; l < layout.layerCount(); l++) {
      boolean here = l >= chunk.firstLayer() && l < chunk.firstLayer() + chunk.layerCount();
      total += here ? 0 : copy.storedSum(layout, blocks.extentOffsets()[i], l);
    }
    return total;
  }

  private void announce(Chunk chunk) {
    RestoreCopy.LayerProgress progress = copy.progress();
    if (progress == null) {
      return;
    }
    for (int r = 0; r < ranks.size(); r++) {
      Rank each = ranks.get(r);
      if (copy.groups().get(each.group()).layout() == chunk.layout()
          && each.layer() >= chunk.firstLayer()
          && each.layer() < chunk.firstLayer() + chunk.layerCount()) {
        underWay[r]--;
      }
    }
    int before = announced;
    while (announced < rank && underWay[announced] == 0) {
      announced++;
    }
    if (announced > before) {
      progress.layersInPlace(announced);
    }
  }
}
