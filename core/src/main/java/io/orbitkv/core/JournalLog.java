package io.orbitkv.core;

import io.orbitkv.journal.Journal;
import io.orbitkv.state.HostEvent;

/** The host's journal as the loop's log. */
public final class JournalLog implements FactLog {
  private final Journal journal;

  public JournalLog(Journal journal) {
    this.journal = journal;
  }

  @Override
  public long append(long atMicros, HostEvent event) {
    return journal.append(atMicros, event);
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
