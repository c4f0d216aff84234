package io.orbitkv.core;

import static io.orbitkv.core.TestLoop.keys;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.state.Effects;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostState;
import org.junit.jupiter.api.Test;

class RestartTest {
  private final TestLoop first = new TestLoop(TestLoop.config(8).build());

  private HostState fold() {
    HostState state = new HostState();
    for (Fact fact : first.log.facts) {
      state.apply(fact, Effects.NONE);
    }
    return state;
  }

  private TestLoop restart() {
    return new TestLoop(TestLoop.config(8).build(), fold(), first.clock);
  }

  @Test
  void shouldAbandonEverythingThatACrashLeftOpen() {
    FakeBuffers pages = FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES);
    long session = first.open("engine", pages);
    first.publishNow(session, "p", keys("ab"));
    long lease = first.lease(session, "q", keys("ab")).leaseId();
    first.restore(session, lease, 0, 7);
    first.publish(session, "p", 0, keys("cd"));
    first.query(session, "q", QueryMode.WAIT, keys("abcd")).last(Reply.Loading.class);

    TestLoop second = restart();
    assertEquals(
        "EpochStarted RestoreFinished PublishAborted TicketClosed LeaseReleased SessionClosed"
            + " BlocksEvicted InstanceCleaned NamespaceUnbound DigestRecorded",
        second.factNames());
    second.check(fold());
    second.checkIdle();
    assertEquals(2, second.state.epoch());
    assertEquals(0, second.state.liveBlocks());
    assertEquals(RefusalCode.SESSION, second.restore(session, lease, 0, 7).refusal());

    long again =
        second.open(
            "engine", FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES));
    second.publishNow(again, "p", keys("ab"));
    second.lease(again, "q", keys("ab"));
    second.check(fold());
  }

  @Test
  void shouldHaveNothingToAbandonAfterAnOrderlyEnd() {
    first.send(new Command.Shutdown("stop", new TestLoop.Answers()));
    TestLoop second = restart();
    assertEquals("EpochStarted DigestRecorded", second.factNames());
  }
}
