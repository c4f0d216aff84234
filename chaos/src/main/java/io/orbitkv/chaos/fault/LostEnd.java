package io.orbitkv.chaos.fault;

import io.orbitkv.core.FactLog;
import io.orbitkv.manager.LoopWiring;
import io.orbitkv.state.HostEvent;

/** Appends everything but the end of the epoch. */
final class LostEnd implements FactLog {
  private final FactLog log;
  private long last;

  private LostEnd(FactLog log) {
    this.log = log;
  }

  static LoopWiring wiring() {
    return new LoopWiring() {
      @Override
      public FactLog log(FactLog journal) {
        return new LostEnd(journal);
      }
    };
  }

  @Override
  public long append(long atMicros, HostEvent event) {
    last = event instanceof HostEvent.EpochEnded ? last + 1 : log.append(atMicros, event);
    return last;
  }

  @Override
  public boolean hasRoom(int facts, long columnBytes) {
    return log.hasRoom(facts, columnBytes);
  }

  @Override
  public void endBatch() {
    log.endBatch();
  }
}
