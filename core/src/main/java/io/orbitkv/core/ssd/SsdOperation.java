package io.orbitkv.core.ssd;

import io.orbitkv.core.ssd.device.SsdDevice;
import java.util.ArrayList;
import java.util.List;

/**
 * One operation of the device: neighbouring slices of a task that lie side by side in a file and in
 * the pool, or a piece of one slice that is longer than an operation may be.
 *
 * @param from place of the first slice among all slices of the task
 * @param to one more than that of the last
 */
record SsdOperation(
    TaskProgress of, int from, int to, long fileOffset, long poolOffset, int bytes) {

  /** A task's slices one after the other, and how many are still under way. */
  static final class TaskProgress {
    final SsdTask task;
    final int[] blocks;
    final int[] slices;

    /** Operations of each slice that have not ended, and how the first that failed did. */
    private final int[] pieces;

    private final int[] failure;
    int left;

    TaskProgress(SsdTask task) {
      this.task = task;
      this.blocks = new int[task.sliceCount()];
      this.slices = new int[task.sliceCount()];
      this.pieces = new int[task.sliceCount()];
      this.failure = new int[task.sliceCount()];
      this.left = task.sliceCount();
      int at = 0;
      for (int block = 0; block < task.blocks(); block++) {
        for (int slice = 0; slice < task.slices(block); slice++, at++) {
          blocks[at] = block;
          slices[at] = slice;
          int bytes = task.slice(block, slice).bytes();
          pieces[at] = (bytes + SsdDevice.MAX_BYTES - 1) / SsdDevice.MAX_BYTES;
        }
      }
    }

    SsdTask.Slice slice(int at) {
      return task.slice(blocks[at], slices[at]);
    }

    /** A piece of a slice has ended; whether it was the slice's last. */
    boolean pieceEnded(int at, int result) {
      if (failure[at] == SsdTask.DONE) {
        failure[at] = result;
      }
      return --pieces[at] == 0;
    }

    int failure(int at) {
      return failure[at];
    }

    void ended(int at, int result, long sum) {
      task.ended(blocks[at], slices[at], result, sum);
      left--;
    }
  }

  int file() {
    return of.slice(from).file();
  }

  int slices() {
    return to - from;
  }

  /** The operations of a task, in its order. */
  static List<SsdOperation> cut(TaskProgress of) {
    List<SsdOperation> operations = new ArrayList<>();
    int count = of.blocks.length;
    for (int from = 0; from < count; ) {
      int to = from + 1;
      long bytes = of.slice(from).bytes();
      if (bytes > SsdDevice.MAX_BYTES) {
        cutLong(of, from, operations);
        from = to;
        continue;
      }
      while (to < count
          && continues(of.slice(to - 1), of.slice(to))
          && bytes + of.slice(to).bytes() <= SsdDevice.MAX_BYTES) {
        bytes += of.slice(to++).bytes();
      }
      cut(of, from, to, bytes, operations);
      from = to;
    }
    return operations;
  }

  private static void cutLong(TaskProgress of, int at, List<SsdOperation> operations) {
    SsdTask.Slice slice = of.slice(at);
    for (int done = 0; done < slice.bytes(); done += SsdDevice.MAX_BYTES) {
      operations.add(
          new SsdOperation(
              of,
              at,
              at + 1,
              slice.fileOffset() + done,
              slice.poolOffset() + done,
              Math.min(SsdDevice.MAX_BYTES, slice.bytes() - done)));
    }
  }

  private static boolean continues(SsdTask.Slice before, SsdTask.Slice next) {
    return before.file() == next.file()
        && before.fileOffset() + before.bytes() == next.fileOffset()
        && before.poolOffset() + before.bytes() == next.poolOffset();
  }

  private static void cut(
      TaskProgress of, int from, int to, long bytes, List<SsdOperation> operations) {
    SsdTask.Slice first = of.slice(from);
    operations.add(
        new SsdOperation(of, from, to, first.fileOffset(), first.poolOffset(), (int) bytes));
  }

  /** The same slices, each by itself. */
  List<SsdOperation> oneByOne() {
    List<SsdOperation> operations = new ArrayList<>();
    for (int at = from; at < to; at++) {
      cut(of, at, at + 1, of.slice(at).bytes(), operations);
    }
    return operations;
  }
}
