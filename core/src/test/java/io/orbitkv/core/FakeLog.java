package io.orbitkv.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A journal in memory whose room is what the test says; every fact may go to another log too. */
final class FakeLog implements FactLog {
  final List<Fact> facts = new ArrayList<>();
  private final long positionBefore;
  boolean full;
  int batches;

  private final @Nullable FactLog behind;

  FakeLog(long positionBefore) {
    this(positionBefore, null);
  }

  FakeLog(long positionBefore, @Nullable FactLog behind) {
    this.positionBefore = positionBefore;
    this.behind = behind;
  }

  @Override
  public long append(long atMicros, HostEvent event) {
    long position = positionBefore + facts.size() + 1;
    facts.add(new Fact(position, atMicros, event));
    if (behind != null) {
      assertEquals(position, behind.append(atMicros, event));
    }
    return position;
  }

  @Override
  public boolean hasRoom(int facts, long columnBytes) {
    return !full && (behind == null || behind.hasRoom(facts, columnBytes));
  }

  @Override
  public void endBatch() {
    batches++;
    if (behind != null) {
      behind.endBatch();
    }
  }
}
