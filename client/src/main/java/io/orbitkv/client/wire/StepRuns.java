package io.orbitkv.client.wire;

import org.jspecify.annotations.Nullable;

/**
 * Ascending numbers as runs of equal steps, 12 bytes each: a prefix of thousands of pages has its
 * boundaries in one. Every cache line that a process writes and another reads costs some 100 ns, so
 * what is not sent is what is fast.
 *
 * <pre>
 *  0 first u32 | 4 step u32 | 8 count u32      first, first + step, ..., count numbers
 * </pre>
 *
 * A run of one number has step 0, another a step of 1 or more, and each run begins above the last
 * number of the run before. Of {@code n} numbers there are at most {@code (n + 1) / 2} runs.
 */
final class StepRuns {
  static final int RUN_BYTES = 12;

  private StepRuns() {}

  /** How many runs {@link #write} writes. */
  static int count(IntRun ascending) {
    int runs = 0;
    for (int at = 0; at < ascending.size(); at = ascending.runEnd(at)) {
      runs++;
    }
    return runs;
  }

  static void write(IntRun ascending, WireWriter out) {
    for (int at = 0; at < ascending.size(); ) {
      int end = ascending.runEnd(at);
      int first = ascending.get(at);
      int step = end - at == 1 ? 0 : ascending.get(at + 1) - first;
      out.u32(first).u32(step).u32(end - at);
      at = end;
    }
  }

  /**
   * Reads runs of numbers of which none is above {@link PayloadLimits#MAX_TOKEN}.
   *
   * @param runs how many; the caller has checked that they are there
   * @param total how many numbers they must hold
   * @return null if they are not written as above
   */
  static @Nullable IntRun read(WireReader in, int runs, int total) {
    if (total > PayloadLimits.MAX_TOKEN) {
      return null;
    }
    int[] several = runs > 1 ? new int[total] : null;
    IntRun one = IntRun.EMPTY;
    int at = 0;
    long last = -1;
    for (int run = 0; run < runs; run++) {
      long first = in.u32();
      long step = in.u32();
      long count = in.u32();
      if (first <= last || count < 1 || count > total - at || (step == 0) != (count == 1)) {
        return null;
      }
      last = first + step * (count - 1);
      if (last > PayloadLimits.MAX_TOKEN) {
        return null;
      }
      one = IntRun.steps((int) first, (int) step, (int) count);
      for (int i = 0; several != null && i < one.size(); i++) {
        several[at + i] = one.get(i);
      }
      at += one.size();
    }
    if (at != total) {
      return null;
    }
    return several == null ? one : IntRun.owning(several);
  }
}
