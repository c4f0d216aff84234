package io.orbitkv.manager;

import io.orbitkv.core.FactLog;
import io.orbitkv.journal.Journal;
import io.orbitkv.manager.metrics.LatencyHistogram;
import io.orbitkv.state.HostEvent;

/** The journal as the loop appends to it, with the time each append takes. */
final class TimedLog implements FactLog {
  private final Journal journal;
  private final LatencyHistogram appends;

  TimedLog(Journal journal, LatencyHistogram appends) {
    this.journal = journal;
    this.appends = appends;
  }

  @Override
  public long append(long atMicros, HostEvent event) {
    long start = System.nanoTime();
    long position = journal.append(atMicros, event);
    appends.record(System.nanoTime() - start);
    return position;
  }

  @Override
  public boolean hasRoom(int facts, long columnBytes) {
    return journal.hasRoom(facts, columnBytes);
  }

  @Override
  public void endBatch() {
    journal.endBatch();
  }
}
