package io.orbitkv.state;

/**
 * The SSD copies of blocks: the changes, counters and digest that {@link BlockTable} needs only
 * where there is a tier. A block has a copy of every slice or of none.
 */
final class SsdTable {
  /** Offsets and lengths on SSD are multiples of this. */
  static final int ALIGNMENT_BYTES = 1 << 12;

  private static final long PART = 0x61B7C2D94E0F3A85L;

  private final BlockTable blocks;
  private long extents;
  private long bytes;
  private long digest;

  SsdTable(BlockTable blocks) {
    this.blocks = blocks;
  }

  /** Whether the block has an SSD copy. */
  boolean has(int slot) {
    SsdColumns columns = blocks.chunk(slot).ssd;
    return columns != null && columns.place[blocks.at(slot, 0)] != SsdColumns.NONE;
  }

  int file(int slot, int slice) {
    return SsdColumns.file(columns(slot).place[blocks.at(slot, slice)]);
  }

  long offset(int slot, int slice) {
    return SsdColumns.offset(columns(slot).place[blocks.at(slot, slice)]);
  }

  long generation(int slot, int slice) {
    return columns(slot).generation[blocks.at(slot, slice)];
  }

  /** Extents of all copies. */
  long extents() {
    return extents;
  }

  /** Allocated bytes of all copies. */
  long bytes() {
    return bytes;
  }

  long digest() {
    return digest;
  }

  void put(int slot, int slice, int file, long offset, long generation) {
    SsdColumns columns = columns(slot);
    int at = blocks.at(slot, slice);
    columns.place[at] = SsdColumns.place(file, offset);
    columns.generation[at] = generation;
    extents++;
    bytes += blocks.extentBytes(slot, slice);
    digest += part(slot, slice);
  }

  /** Drops every slice of the copy, if there is one. */
  void drop(int slot, Effects effects) {
    if (!has(slot)) {
      return;
    }
    SsdColumns columns = columns(slot);
    for (int slice = 0; slice < blocks.slices(slot); slice++) {
      int at = blocks.at(slot, slice);
      int length = blocks.extentBytes(slot, slice);
      digest -= part(slot, slice);
      extents--;
      bytes -= length;
      long place = columns.place[at];
      columns.place[at] = SsdColumns.NONE;
      effects.ssdExtentFreed(
          SsdColumns.file(place), SsdColumns.offset(place), length, columns.generation[at]);
    }
  }

  void forEach(HostState.SsdExtentVisitor visitor) {
    for (int first = 0; first < blocks.slotLimit(); first += BlockChunk.SLOTS) {
      BlockChunk chunk = blocks.chunk(first);
      SsdColumns columns = chunk.ssd;
      for (int at = 0; columns != null && at < columns.place.length; at++) {
        long place = columns.place[at];
        if (place != SsdColumns.NONE) {
          visitor.visit(SsdColumns.file(place), SsdColumns.offset(place), chunk.extentBytes[at]);
        }
      }
    }
  }

  /** What {@link #digest()} must be, computed from the columns. */
  long digestFromScratch() {
    long sum = 0;
    for (int slot = 0; slot < blocks.slotLimit(); slot++) {
      if (blocks.state(slot) != BlockChunk.FREE && has(slot)) {
        for (int slice = 0; slice < blocks.slices(slot); slice++) {
          sum += part(slot, slice);
        }
      }
    }
    return sum;
  }

  private SsdColumns columns(int slot) {
    BlockChunk chunk = blocks.chunk(slot);
    SsdColumns columns = chunk.ssd;
    if (columns == null) {
      columns = new SsdColumns(BlockChunk.SLOTS * chunk.slices);
      chunk.ssd = columns;
    }
    return columns;
  }

  private long part(int slot, int slice) {
    SsdColumns columns = columns(slot);
    int at = blocks.at(slot, slice);
    long hash = Mix.chain(Mix.chain(blocks.blockId(slot) ^ PART, slice), columns.place[at]);
    hash = Mix.chain(Mix.chain(hash, columns.generation[at]), blocks.extentBytes(slot, slice));
    return Mix.mix(Mix.chain(hash, blocks.checksum(slot, slice)));
  }
}
