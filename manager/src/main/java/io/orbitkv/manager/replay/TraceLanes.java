package io.orbitkv.manager.replay;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * Gives slices that overlap rows of their own: the trace format wants the slices of one thread to
 * nest. Each session has a set of rows for each kind of thing, and a new slice takes the first row
 * that is free.
 */
final class TraceLanes {
  /** Writes a row's name. */
  @FunctionalInterface
  interface Naming {
    void name(String what, int process, int thread, String name);
  }

  /** Rows of one kind of one session. */
  private static final class Rows {
    final Map<Integer, Integer> threads = new HashMap<>();
    final BitSet busy = new BitSet();
  }

  /** A row that a slice holds until it is freed. */
  static final class Lane {
    private final int process;
    private final int thread;
    private final int row;
    private final Rows rows;

    private Lane(int process, int thread, int row, Rows rows) {
      this.process = process;
      this.thread = thread;
      this.row = row;
      this.rows = rows;
    }

    int process() {
      return process;
    }

    int thread() {
      return thread;
    }

    void free() {
      rows.busy.clear(row);
    }
  }

  private final Naming naming;
  private final Map<String, Rows> rows = new HashMap<>();
  private int threads;

  TraceLanes(Naming naming) {
    this.naming = naming;
  }

  /** Takes the first free row. */
  Lane lane(int process, long sessionId, String kind) {
    Rows mine = rows.computeIfAbsent(sessionId + kind, _ -> new Rows());
    int row = mine.busy.nextClearBit(0);
    mine.busy.set(row);
    Integer thread = mine.threads.get(row);
    if (thread == null) {
      thread = ++threads;
      mine.threads.put(row, thread);
      String of = sessionId == 0 ? "" : "session " + sessionId + " ";
      naming.name("thread_name", process, thread, of + kind + (row == 0 ? "" : " " + (row + 1)));
    }
    return new Lane(process, thread, row, mine);
  }
}
