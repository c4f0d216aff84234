package io.orbitkv.core;

import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import java.util.ArrayList;
import java.util.List;

/** A journal in memory whose room is what the test says. */
final class FakeLog implements FactLog {
  final List<Fact> facts = new ArrayList<>();
  private final long positionBefore;
  boolean full;
  int batches;

  FakeLog(long positionBefore) {
    this.positionBefore = positionBefore;
  }

  @Override
  public long append(long atMicros, HostEvent event) {
    long position = positionBefore + facts.size() + 1;
    facts.add(new Fact(position, atMicros, event));
    return position;
  }

  @Override
  public boolean hasRoom(int facts, long columnBytes) {
    return !full;
  }

  @Override
  public void endBatch() {
    batches++;
  }
}
