package io.orbitkv.manager;

import io.orbitkv.core.FactLog;
import io.orbitkv.journal.Journal;
import io.orbitkv.manager.metrics.LatencyHistogram;
import io.orbitkv.state.HostEvent;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** The journal as the loop appends to it: each append is timed, and trouble is told. */
final class TimedLog implements FactLog {
  private static final VarHandle WRITTEN = written(MethodHandles.lookup());

  private final Journal journal;
  private final LatencyHistogram appends;
  private volatile long written;
  private final TroubleLog troubles = new TroubleLog();

  TimedLog(Journal journal, LatencyHistogram appends) {
    this.journal = journal;
    this.appends = appends;
    this.written = journal.lastPosition();
  }

  /** The position of the last fact, for any thread. */
  long written() {
    return written;
  }

  @Override
  public long append(long atMicros, HostEvent event) {
    long start = System.nanoTime();
    long position = journal.append(atMicros, event);
    appends.record(System.nanoTime() - start);
    WRITTEN.setRelease(this, position);
    troubles.appended(event);
    return position;
  }

  private static VarHandle written(MethodHandles.Lookup lookup) {
    try {
      return lookup.findVarHandle(TimedLog.class, "written", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  @Override
  public boolean hasRoom(int facts, long columnBytes) {
    boolean has = journal.hasRoom(facts, columnBytes);
    troubles.room(has);
    return has;
  }

  @Override
  public void endBatch() {
    journal.endBatch();
  }
}
