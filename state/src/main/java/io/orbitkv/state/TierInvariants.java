package io.orbitkv.state;

import io.orbitkv.state.HostEvent.BlocksLoading;
import io.orbitkv.state.HostEvent.LayersBound;
import io.orbitkv.state.HostEvent.SsdTierOpened;
import io.orbitkv.state.HostEvent.SsdWritten;

/**
 * What must hold of facts about the SSD tier; the rest is in {@link HostInvariants}.
 *
 * <p>Bytes precede the fact ({@code SsdWritten} follows the write) and the fact precedes the free
 * ({@code SsdEvicted} and {@code BlocksDemoted} come before an extent is used again). A block that
 * is being read back keeps its SSD copy and its pool extents until the read has ended.
 */
final class TierInvariants {
  private TierInvariants() {}

  static void opens(long position, Tiers tiers, BlockTable blocks, SsdTierOpened event) {
    int files = event.fileBytes().size();
    HostInvariants.require(
        files >= 1 && files <= SsdColumns.MAX_FILES,
        position,
        "an SSD tier has %d files; 1 to %d are legal",
        files,
        SsdColumns.MAX_FILES);
    boolean same =
        event.tierIdHigh() == tiers.tierIdHigh
            && event.tierIdLow() == tiers.tierIdLow
            && event.fileBytes().equals(tiers.fileBytes);
    HostInvariants.require(
        same || blocks.ssd.extents() == 0,
        position,
        "another SSD tier is opened while %d extents lie on the one before; SsdEvicted comes first",
        blocks.ssd.extents());
  }

  static void binds(long position, Tiers tiers, Registry registry, LayersBound event) {
    GroupRow group = HostInvariants.group(position, registry, event.namespaceId(), event.groupId());
    HostInvariants.require(
        event.slice() >= 0 && event.slice() < group.slices,
        position,
        "slice %d of %d is bound to layers",
        event.slice(),
        group.slices);
    HostInvariants.require(
        event.layers().size() == event.layerBytes().size() && event.layers().size() > 0,
        position,
        "%d layers have %d lengths",
        event.layers().size(),
        event.layerBytes().size());
    HostInvariants.require(
        tiers.layers.get(Tiers.key(event.namespaceId(), event.groupId(), event.slice())) == null,
        position,
        "slice %d of namespace %d group %d is bound to layers already",
        event.slice(),
        event.namespaceId(),
        event.groupId());
  }

  static void writable(long position, BlockTable blocks, int slot, long id) {
    HostInvariants.findable(position, blocks, slot, id, "written to SSD");
    if (blocks.state(slot) != BlockChunk.SEALED) {
      throw HostInvariants.broken(position, "block %d is written to SSD and is not sealed", id);
    }
    if (blocks.ssd.has(slot)) {
      throw HostInvariants.broken(position, "block %d is written to SSD a second time", id);
    }
  }

  static void place(
      long position, Tiers tiers, SsdWritten event, int column, long id, int extentBytes) {
    if (column >= event.files().size()
        || event.offsets().size() != event.files().size()
        || event.generations().size() != event.files().size()) {
      throw HostInvariants.broken(
          position,
          "SsdWritten has %d files, %d offsets and %d generations; block %d needs more",
          event.files().size(),
          event.offsets().size(),
          event.generations().size(),
          id);
    }
    long file = event.files().get(column);
    long offset = event.offsets().get(column);
    boolean inFile =
        file >= 0
            && file < tiers.fileBytes.size()
            && offset >= 0
            && offset % SsdTable.ALIGNMENT_BYTES == 0
            && extentBytes % SsdTable.ALIGNMENT_BYTES == 0
            && offset <= tiers.fileBytes.get((int) file) - extentBytes;
    if (!inFile || event.generations().get(column) < 1) {
      throw HostInvariants.broken(
          position,
          "block %d lies in extent [%d, +%d) of file %d, generation %d, which is not in the tier",
          id,
          offset,
          extentBytes,
          file,
          event.generations().get(column));
    }
  }

  static void onSsd(long position, BlockTable blocks, int slot, long id, String done) {
    HostInvariants.findable(position, blocks, slot, id, done);
    if (!blocks.ssd.has(slot) || blocks.state(slot) == BlockChunk.LOADING) {
      throw HostInvariants.broken(
          position,
          "block %d is %s, but it %s",
          id,
          done,
          blocks.ssd.has(slot) ? "is being read" : "is not there");
    }
  }

  static void demotable(long position, BlockTable blocks, int slot, long id) {
    onSsd(position, blocks, slot, id, "demoted");
    byte state = blocks.state(slot);
    boolean inDram = state == BlockChunk.SEALED || state == BlockChunk.UNVERIFIED;
    if (!inDram || blocks.pins(slot) != 0) {
      throw HostInvariants.broken(
          position,
          "block %d is demoted in state %d with %d pins",
          id,
          blocks.state(slot),
          blocks.pins(slot));
    }
  }

  static void loadable(long position, BlockTable blocks, int slot, long id) {
    HostInvariants.findable(position, blocks, slot, id, "read from SSD");
    if (blocks.state(slot) != BlockChunk.DEMOTED) {
      throw HostInvariants.broken(
          position,
          "block %d is read from SSD in state %d; only one that is nowhere else is",
          id,
          blocks.state(slot));
    }
  }

  static void hasColumn(long position, BlocksLoading event, int column) {
    if (column >= event.extentOffsets().size()
        || event.extentOffsets().size() != event.extentGenerations().size()) {
      throw HostInvariants.broken(
          position,
          "BlocksLoading has %d extent offsets and %d generations, too few for its blocks",
          event.extentOffsets().size(),
          event.extentGenerations().size());
    }
  }

  static void columns(long position, String fact, int used, int given) {
    if (used != given) {
      throw HostInvariants.broken(
          position, "%s has columns for %d slices, its blocks have %d", fact, given, used);
    }
  }

  /** A read of the block is under way, whatever became of the block. */
  static void isLoading(long position, BlockTable blocks, int slot, long id) {
    if (slot < 0
        || blocks.pins(slot) <= 0
        || blocks.sliceState(slot, 0) != BlockChunk.SLICE_LOADING) {
      throw HostInvariants.broken(position, "block %d is not being read from SSD", id);
    }
  }
}
