package io.orbitkv.catalog.peer;

import io.orbitkv.catalog.inventory.InventoryFrame;
import io.orbitkv.catalog.inventory.InventoryReply;
import io.orbitkv.catalog.peer.proto.Accepted;
import io.orbitkv.catalog.peer.proto.Changes;
import io.orbitkv.catalog.peer.proto.InventoryDown;
import io.orbitkv.catalog.peer.proto.InventoryUp;
import io.orbitkv.catalog.peer.proto.Progress;
import io.orbitkv.catalog.peer.proto.Rejected;
import io.orbitkv.catalog.peer.proto.Restart;
import io.orbitkv.catalog.peer.proto.SnapshotBegin;
import io.orbitkv.catalog.peer.proto.SnapshotEnd;
import io.orbitkv.catalog.peer.proto.SnapshotRows;
import java.util.OptionalLong;

/** Between messages of inventory streams and what they mean; see {@link Protos}. */
final class InventoryProtos {
  private InventoryProtos() {}

  static InventoryUp frame(InventoryFrame frame) {
    InventoryUp.Builder up = InventoryUp.newBuilder();
    return switch (frame) {
      case InventoryFrame.SnapshotBegin(long snapshot, long position) ->
          up.setSnapshotBegin(
                  SnapshotBegin.newBuilder().setSnapshot(snapshot).setPosition(position))
              .build();
      case InventoryFrame.SnapshotRows(long snapshot, int index, var rows) ->
          up.setSnapshotRows(
                  SnapshotRows.newBuilder()
                      .setSnapshot(snapshot)
                      .setIndex(index)
                      .setRows(Protos.rows(rows)))
              .build();
      case InventoryFrame.SnapshotEnd(long snapshot, int frames, long rows) ->
          up.setSnapshotEnd(
                  SnapshotEnd.newBuilder().setSnapshot(snapshot).setFrames(frames).setRows(rows))
              .build();
      case InventoryFrame.Changes(long after, long through, var rows) ->
          up.setChanges(
                  Changes.newBuilder()
                      .setAfter(after)
                      .setThrough(through)
                      .setRows(Protos.rows(rows)))
              .build();
    };
  }

  static InventoryFrame frame(InventoryUp up) {
    return switch (up.getFrameCase()) {
      case SNAPSHOT_BEGIN ->
          new InventoryFrame.SnapshotBegin(
              up.getSnapshotBegin().getSnapshot(), up.getSnapshotBegin().getPosition());
      case SNAPSHOT_ROWS ->
          new InventoryFrame.SnapshotRows(
              up.getSnapshotRows().getSnapshot(),
              up.getSnapshotRows().getIndex(),
              Protos.rows(up.getSnapshotRows().getRows()));
      case SNAPSHOT_END ->
          new InventoryFrame.SnapshotEnd(
              up.getSnapshotEnd().getSnapshot(),
              up.getSnapshotEnd().getFrames(),
              up.getSnapshotEnd().getRows());
      case CHANGES ->
          new InventoryFrame.Changes(
              up.getChanges().getAfter(),
              up.getChanges().getThrough(),
              Protos.rows(up.getChanges().getRows()));
      case OPEN, FRAME_NOT_SET ->
          throw new IllegalArgumentException("a frame of a kind not expected here");
    };
  }

  static InventoryDown reply(InventoryReply reply) {
    InventoryDown.Builder down = InventoryDown.newBuilder();
    return switch (reply) {
      case InventoryReply.Accepted(OptionalLong after, int window) -> {
        Accepted.Builder accepted = Accepted.newBuilder().setWindowFrames(window);
        after.ifPresent(accepted::setResumeAfter);
        yield down.setAccepted(accepted).build();
      }
      case InventoryReply.Progress(long frames, OptionalLong position) -> {
        Progress.Builder progress = Progress.newBuilder().setFramesConsumed(frames);
        position.ifPresent(progress::setPosition);
        yield down.setProgress(progress).build();
      }
      case InventoryReply.Restart(String reason) ->
          down.setRestart(Restart.newBuilder().setReason(reason)).build();
      case InventoryReply.Rejected(String reason, String remedy) ->
          down.setRejected(Rejected.newBuilder().setReason(reason).setRemedy(remedy)).build();
    };
  }

  static InventoryReply reply(InventoryDown down) {
    return switch (down.getReplyCase()) {
      case ACCEPTED -> {
        Accepted accepted = down.getAccepted();
        if (accepted.getWindowFrames() < 1) {
          throw new IllegalArgumentException("a window of " + accepted.getWindowFrames());
        }
        yield new InventoryReply.Accepted(
            accepted.hasResumeAfter()
                ? OptionalLong.of(accepted.getResumeAfter())
                : OptionalLong.empty(),
            Math.min(1024, accepted.getWindowFrames()));
      }
      case PROGRESS -> {
        Progress progress = down.getProgress();
        yield new InventoryReply.Progress(
            progress.getFramesConsumed(),
            progress.hasPosition()
                ? OptionalLong.of(progress.getPosition())
                : OptionalLong.empty());
      }
      case RESTART -> new InventoryReply.Restart(down.getRestart().getReason());
      case REJECTED ->
          new InventoryReply.Rejected(
              down.getRejected().getReason(), down.getRejected().getRemedy());
      case REPLY_NOT_SET -> throw new IllegalArgumentException("a reply of a kind not known");
    };
  }
}
