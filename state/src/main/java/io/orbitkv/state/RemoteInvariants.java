package io.orbitkv.state;

import io.orbitkv.state.HostEvent.GroupRead;
import io.orbitkv.state.HostEvent.RemoteReadBegun;
import io.orbitkv.state.HostEvent.RemoteReadEnded;

/**
 * What must hold of facts about other hosts; the rest is in {@link HostInvariants}.
 *
 * <p>A grant pins its blocks until the proof that nobody reads them, so their extents are not given
 * to others before {@code GrantClosed}. A remote read owns its extents until the proof that no byte
 * can come, so they are not given to others before {@code RemoteReadEnded}, whatever became of its
 * blocks.
 */
final class RemoteInvariants {
  private RemoteInvariants() {}

  static void readable(
      long position,
      RemoteReadBegun event,
      GroupRead read,
      GroupRow group,
      int column,
      long nextBlockId) {
    int keys = read.keys().size();
    HostInvariants.require(
        keys > 0 && read.sliceBytes().size() == group.slices,
        position,
        "remote read %d has %d keys and %d lengths of slices for group %d, which has %d slices",
        event.readId(),
        keys,
        read.sliceBytes().size(),
        read.groupId(),
        group.slices);
    HostInvariants.newId(position, "block", read.firstBlockId(), nextBlockId);
    HostInvariants.require(
        column + (long) keys * group.slices <= event.extentOffsets().size(),
        position,
        "remote read %d has %d extents, too few for its blocks",
        event.readId(),
        event.extentOffsets().size());
    for (int slice = 0; slice < group.slices; slice++) {
      long bytes = read.sliceBytes().get(slice);
      HostInvariants.require(
          bytes > 0 && bytes <= Integer.MAX_VALUE,
          position,
          "slice %d of group %d has %d bytes",
          slice,
          read.groupId(),
          bytes);
    }
  }

  static void hasChecksums(long position, RemoteReadEnded event, int needed) {
    if (needed > event.checksums().size()) {
      throw HostInvariants.broken(
          position,
          "remote read %d has %d checksums, too few for %d blocks",
          event.readId(),
          event.checksums().size(),
          event.arrived().size());
    }
  }
}
