package io.orbitkv.chaos.fault;

import io.orbitkv.core.FactLog;
import io.orbitkv.manager.LoopWiring;
import io.orbitkv.state.HostEvent;

/** Says that there is room when there is none. */
final class EndlessLog implements FactLog {
  private final FactLog log;

  private EndlessLog(FactLog log) {
    this.log = log;
  }

  static LoopWiring wiring() {
    return new LoopWiring() {
      @Override
      public FactLog log(FactLog journal) {
        return new EndlessLog(journal);
      }
    };
  }

  @Override
  public long append(long atMicros, HostEvent event) {
    return log.append(atMicros, event);
  }

  @Override
  public boolean hasRoom(int facts, long columnBytes) {
    return true;
  }

  @Override
  public void endBatch() {
    log.endBatch();
  }
}
