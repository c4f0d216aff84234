package io.orbitkv.state;

import java.io.IOException;

/**
 * What the checkpoint of a host with an SSD tier holds beside that of {@link HostSnapshot}.
 *
 * <pre>
 * tier   totals as in the head; fixed(idHigh) fixed(idLow) next generation
 *        files: count, bytes of each
 *        layers: count, each: namespaceId groupId slice, layers: count, each: number bytes
 * copy   of a block: u8 1 if there is one, then of each slice: file, offset in 4 KiB, generation,
 *        and if the slice is empty in DRAM: bytes fixed(checksum)
 * </pre>
 */
final class TierSnapshot {
  private TierSnapshot() {}

  static void writeTier(HostState state, FrameWriter to) throws IOException {
    Tiers tiers = state.tiers;
    HostSnapshot.writeSections(state.totals.ssdSections(), to);
    to.fixed(tiers.tierIdHigh);
    to.fixed(tiers.tierIdLow);
    to.varint(tiers.nextGeneration);
    writeLongs(tiers.fileBytes, to);
    to.varint(tiers.layers.size());
    for (BoundLayers bound : tiers.layers.inOrder()) {
      to.varint(bound.namespaceId());
      to.varint(bound.groupId());
      to.varint(bound.slice());
      writeLongs(bound.layers(), to);
      writeLongs(bound.layerBytes(), to);
    }
  }

  static void readTier(HostState state, FrameReader from) throws IOException {
    Tiers tiers = state.tiers;
    tiers.used = true;
    HostSnapshot.readSections(state.totals.ssdSections(), from);
    tiers.tierIdHigh = from.fixed();
    tiers.tierIdLow = from.fixed();
    tiers.nextGeneration = from.varint();
    tiers.fileBytes = readLongs(from);
    for (int left = from.varint32(); left > 0; left--) {
      tiers.add(
          new BoundLayers(
              from.varint32(), from.varint32(), from.varint32(), readLongs(from), readLongs(from)));
    }
  }

  static void writeCopy(BlockTable blocks, int slot, FrameWriter to) throws IOException {
    boolean copy = blocks.ssd.has(slot);
    to.octet(copy ? 1 : 0);
    if (copy) {
      for (int slice = 0; slice < blocks.slices(slot); slice++) {
        to.varint(blocks.ssd.file(slot, slice));
        to.varint(blocks.ssd.offset(slot, slice) / SsdTable.ALIGNMENT_BYTES);
        to.varint(blocks.ssd.generation(slot, slice));
        if (blocks.sliceState(slot, slice) == BlockChunk.SLICE_EMPTY) {
          to.varint(blocks.extentBytes(slot, slice));
          to.fixed(blocks.checksum(slot, slice));
        }
      }
    }
  }

  static void readCopy(BlockTable blocks, int slot, FrameReader from) throws IOException {
    if (from.octet() == 0) {
      return;
    }
    for (int slice = 0; slice < blocks.slices(slot); slice++) {
      int file = from.varint32();
      long offset = from.varint() * SsdTable.ALIGNMENT_BYTES;
      long generation = from.varint();
      if (blocks.sliceState(slot, slice) == BlockChunk.SLICE_EMPTY) {
        blocks.describeSlice(slot, slice, from.varint32(), from.fixed());
      }
      blocks.ssd.put(slot, slice, file, offset, generation);
    }
  }

  private static void writeLongs(Longs values, FrameWriter to) throws IOException {
    to.varint(values.size());
    for (int i = 0; i < values.size(); i++) {
      to.varint(values.get(i));
    }
  }

  private static Longs readLongs(FrameReader from) throws IOException {
    int count = from.varint32();
    if (count > 1 << 16) {
      throw new DamagedSnapshot("a list of " + count + " numbers");
    }
    long[] values = new long[count];
    for (int i = 0; i < count; i++) {
      values[i] = from.varint();
    }
    return Longs.of(values);
  }
}
