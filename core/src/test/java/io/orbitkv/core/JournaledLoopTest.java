package io.orbitkv.core;

import static io.orbitkv.core.TestLoop.keys;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.journal.Journal;
import io.orbitkv.journal.JournalOptions;
import io.orbitkv.journal.Recovered;
import io.orbitkv.journal.Recovery;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The loop on a real journal: what it decided is what recovery finds. */
class JournaledLoopTest {
  @TempDir Path dir;

  private static TestLoop loop(Recovered.Opened opened, FakeClock clock) {
    FakeLog log = new FakeLog(opened.state().position(), new JournalLog(opened.journal()));
    return new TestLoop(TestLoop.config(8).digestEveryFacts(7).build(), opened.state(), clock, log);
  }

  private Recovered.Opened open() throws IOException {
    JournalOptions options = JournalOptions.DEFAULT.withPartBytes(1 << 20);
    return assertInstanceOf(Recovered.Opened.class, Recovery.open(dir, options, 1));
  }

  @Test
  void shouldRecoverWhatWasDecided() throws Exception {
    FakeClock clock = new FakeClock();
    Recovered.Opened opened = open();
    long digest;
    try (Journal journal = opened.journal()) {
      TestLoop first = loop(opened, clock);
      FakeBuffers pages = FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES);
      long session = first.open("engine", pages);
      for (int i = 0; i < 40; i++) {
        first.publishNow(session, "p" + i, TestLoop.numbered(i, i + 1, i + 2));
        Reply.Ready ready = first.lease(session, "q" + i, TestLoop.numbered(i, i + 1, -i));
        first.restore(session, ready.leaseId(), 0, 7, 8);
        first.drain();
        first.release(session, ready.leaseId());
      }
      first.publish(session, "open", 0, keys("xy"));
      first.query(session, "open", QueryMode.WAIT, keys("xy")).last(Reply.Loading.class);
      digest = first.state.digest();
      assertEquals(first.state.position(), journal.lastPosition());
    }
    Recovered.Opened again = open();
    try (Journal journal = again.journal()) {
      assertEquals(digest, again.state().digest());
      TestLoop second = loop(again, clock);
      second.checkIdle();
      assertEquals(2, second.state.epoch());
      assertEquals(second.state.position(), journal.lastPosition());
    }
  }
}
