package io.orbitkv.manager.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.Effects;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostInvariants;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Totals.Counter;
import org.junit.jupiter.api.Test;

class FactStreamTest {

  @Test
  void shouldFold() {
    fold(new FactStream(5, 1_000_000, FactStream.Mix.SMALL));
    fold(new FactStream(5, 1_000_000, FactStream.Mix.CONVERSATIONS));
  }

  private static void fold(FactStream stream) {
    HostState state = new HostState();
    for (int position = 1; position <= 40_000; position++) {
      var event = stream.next();
      state.apply(new Fact(position, stream.atMicros(), event), Effects.NONE);
    }
    HostInvariants.checkDeep(state);
    assertEquals(40_000, state.position());
    assertTrue(state.totals().get(Counter.RESTORES_STARTED) > 5_000);
    assertTrue(state.totals().get(Counter.RESERVED_BLOCKS) > 5_000);
  }
}
