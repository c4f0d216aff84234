package io.orbitkv.chaos.fault;

import io.orbitkv.core.FactLog;
import io.orbitkv.manager.LoopWiring;
import io.orbitkv.state.HostEvent;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;

/** Holds facts back for a while after their batch has ended, so that answers overtake them. */
final class LateLog implements FactLog {
  private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(30);

  private record Late(long atMicros, HostEvent event, long dueNanos) {}

  private final FactLog log;
  private final ArrayDeque<Late> late = new ArrayDeque<>();
  private long next;

  private LateLog(FactLog log) {
    this.log = log;
  }

  static LoopWiring wiring() {
    return new LoopWiring() {
      @Override
      public FactLog log(FactLog journal) {
        return new LateLog(journal);
      }
    };
  }

  @Override
  public long append(long atMicros, HostEvent event) {
    if (next == 0) {
      next = log.append(atMicros, event) + 1;
      return next - 1;
    }
    late.addLast(new Late(atMicros, event, System.nanoTime() + LATE_NANOS));
    return next++;
  }

  @Override
  public boolean hasRoom(int facts, long columnBytes) {
    return log.hasRoom(facts + late.size(), columnBytes);
  }

  @Override
  public void endBatch() {
    while (!late.isEmpty() && late.getFirst().dueNanos() - System.nanoTime() < 0) {
      Late due = late.removeFirst();
      log.append(due.atMicros(), due.event());
    }
    log.endBatch();
  }
}
