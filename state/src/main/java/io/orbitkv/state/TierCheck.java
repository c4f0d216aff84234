package io.orbitkv.state;

import com.google.errorprone.annotations.FormatMethod;
import java.util.Arrays;

/** The part of {@link HostInvariants#checkDeep} that looks at SSD copies. */
final class TierCheck {
  private final HostState state;
  private final BlockTable blocks;
  private long extents;
  private long bytes;

  TierCheck(HostState state) {
    this.state = state;
    this.blocks = state.blocks;
  }

  void run() {
    for (int slot = 0; slot < blocks.slotLimit(); slot++) {
      if (blocks.state(slot) != BlockChunk.FREE) {
        check(slot);
      }
    }
    require(
        extents == blocks.ssd.extents() && bytes == blocks.ssd.bytes(),
        "%d SSD extents have %d bytes, the counters say %d and %d",
        extents,
        bytes,
        blocks.ssd.extents(),
        blocks.ssd.bytes());
    for (int file = 0; file < state.tiers.fileBytes.size(); file++) {
      checkOverlaps(file);
    }
  }

  private void check(int slot) {
    long id = blocks.blockId(slot);
    byte blockState = blocks.state(slot);
    boolean copy = blocks.ssd.has(slot);
    int loading = 0;
    for (int slice = 0; slice < blocks.slices(slot); slice++) {
      boolean isLoading = blocks.sliceState(slot, slice) == BlockChunk.SLICE_LOADING;
      loading += isLoading ? 1 : 0;
      if (copy) {
        extents++;
        bytes += blocks.extentBytes(slot, slice);
        checkPlace(slot, slice);
      }
    }
    require(
        loading == 0 || loading == blocks.slices(slot),
        "block %d has %d of %d slices on the way from SSD",
        id,
        loading,
        blocks.slices(slot));
    require(loading == 0 || copy, "block %d is read from SSD and is not there", id);
    require(
        loading > 0
            ? blockState == BlockChunk.LOADING || blockState == BlockChunk.EVICTED
            : blockState != BlockChunk.LOADING,
        "block %d is in state %d with %d slices on the way from SSD",
        id,
        blockState,
        loading);
    require(
        blockState != BlockChunk.DEMOTED || (copy && blocks.hasNoSlice(slot)),
        "block %d is on SSD only, and has a slice in DRAM or no copy",
        id);
    require(
        blockState != BlockChunk.RESERVED || !copy, "block %d is on SSD and was never sealed", id);
  }

  private void checkPlace(int slot, int slice) {
    int file = blocks.ssd.file(slot, slice);
    require(
        file < state.tiers.fileBytes.size()
            && blocks.ssd.offset(slot, slice)
                <= state.tiers.fileBytes.get(file) - blocks.extentBytes(slot, slice),
        "block %d lies in file %d at %d, which is not in the tier",
        blocks.blockId(slot),
        file,
        blocks.ssd.offset(slot, slice));
    require(
        blocks.ssd.generation(slot, slice) < state.tiers.nextGeneration,
        "block %d has an SSD generation above the highest",
        blocks.blockId(slot));
  }

  private void checkOverlaps(int file) {
    long[] offsets = new long[(int) extents];
    long[] ends = new long[(int) extents];
    int count = 0;
    for (int slot = 0; slot < blocks.slotLimit(); slot++) {
      if (blocks.state(slot) == BlockChunk.FREE || !blocks.ssd.has(slot)) {
        continue;
      }
      for (int slice = 0; slice < blocks.slices(slot); slice++) {
        if (blocks.ssd.file(slot, slice) == file) {
          offsets[count] = blocks.ssd.offset(slot, slice);
          ends[count++] = blocks.ssd.offset(slot, slice) + blocks.extentBytes(slot, slice);
        }
      }
    }
    // Extents that do not overlap have the same order by offset and by end.
    Arrays.sort(offsets, 0, count);
    Arrays.sort(ends, 0, count);
    for (int i = 1; i < count; i++) {
      require(
          offsets[i] >= ends[i - 1],
          "the SSD extent at offset %d of file %d overlaps another, which ends at %d",
          offsets[i],
          file,
          ends[i - 1]);
    }
  }

  @FormatMethod
  private void require(boolean holds, String format, Object... arguments) {
    if (!holds) {
      throw HostInvariants.broken(state.position(), format, arguments);
    }
  }
}
