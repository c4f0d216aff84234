package io.orbitkv.core;

import static io.orbitkv.core.TestLoop.keys;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.ssd.SsdExtents;
import io.orbitkv.core.ssd.SsdSettings;
import io.orbitkv.core.ssd.SsdSettings.SsdAdmission;
import io.orbitkv.state.Effects;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.HostState;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a daemon that died left on SSD, and what the next one makes of it. */
class TierRestartTest {
  private static final SsdSettings SETTINGS =
      new SsdSettings(SsdAdmission.ALL, 1 << 20, 1 << 20, 100, 1_000);
  private static final HostConfig CONFIG =
      HostConfig.forPool(4L * SsdExtents.ALIGNMENT_BYTES)
          .inlineCopyBytes(0)
          .globalBudgetBytes(1 << 30)
          .instanceBudgetBytes(1 << 30)
          .build();

  private final FakeClock clock = new FakeClock();
  private final List<Fact> facts = new ArrayList<>();
  private FakeSsd ssd = new FakeSsd(7, 1, 16);
  private final FakeBuffers buffers = buffers();

  private static FakeBuffers buffers() {
    FakeBuffers buffers = FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES);
    for (int page = 0; page < 32; page++) {
      buffers.fill(0, page, 10 + page);
    }
    return buffers;
  }

  private HostState fold() {
    HostState state = new HostState();
    facts.forEach(fact -> state.apply(fact, Effects.NONE));
    return state;
  }

  private TestLoop start() {
    return TestLoop.withSsd(CONFIG, SETTINGS, ssd, fold(), clock);
  }

  /** The daemon dies: its facts are all that is left of it. */
  private void kill(TestLoop loop) {
    HostState before = fold();
    loop.check(before);
    facts.addAll(loop.log.facts);
  }

  @Test
  void shouldServeFromSsdWhatTheJournalSaysLiesThere() {
    TestLoop first = start();
    long session = first.open("engine", buffers);
    first.publishNow(session, "p", keys("abcd"));
    first.publishNow(session, "p", keys("ef"), 4, 5);
    first.lease(session, "q", keys("cd"));
    kill(first);

    TestLoop second = start();
    assertEquals(6, second.state.ssdOnlyBlocks());
    assertEquals(0, second.state.extents());
    second.checkIdle();
    FakeBuffers pages = buffers();
    long again = second.open("engine", pages);
    TestLoop.Answers query = second.query(again, "q", QueryMode.WAIT, keys("abcd"));
    second.drain();
    Reply.Ready ready = query.last(Reply.Ready.class);
    assertEquals(16, ready.boundaryToken());
    second.restore(again, ready.leaseId(), 0, 20, 21, 22, 23);
    second.drain();
    for (int i = 0; i < 4; i++) {
      assertEquals(10 + i, pages.read(0, 20 + i));
    }
    second.release(again, ready.leaseId());
    second.publishNow(again, "p", keys("ghij"), 6, 7, 8, 9);
    kill(second);
    assertEquals(10, start().state.ssdOnlyBlocks(), "what went to SSD in both lives");
  }

  @Test
  void shouldAbandonReadsAndForgetWritesThatACrashCutOff() {
    TestLoop first = start();
    long session = first.open("engine", buffers);
    first.publishNow(session, "p", keys("abcd"));
    first.publishNow(session, "p", keys("ef"), 4, 5);
    first.query(session, "q", QueryMode.WAIT, keys("ab")).last(Reply.Loading.class);
    first.publish(session, "p", 0, keys("gh"), 6, 7);
    first.drainCopies();
    assertEquals(2, ssd.running.size(), "a read and a write");
    kill(first);
    TestLoop second = start();
    second.checkIdle();
    assertEquals(6, second.state.ssdOnlyBlocks());
    second.check(fold());
  }

  @Test
  void shouldDropEverythingWhenTheFilesAreOthers() {
    TestLoop first = start();
    first.publishNow(first.open("engine", buffers), "p", keys("abcd"));
    kill(first);
    ssd = new FakeSsd(8, 1, 16);
    TestLoop second = start();
    assertEquals(
        "EpochStarted SessionClosed SsdEvicted SsdTierOpened BlocksEvicted InstanceCleaned"
            + " NamespaceUnbound DigestRecorded",
        second.factNames());
    assertEquals(0, second.state.liveBlocks());
    second.check(fold());
  }

  @Test
  void shouldDropEverythingWithoutATier() {
    TestLoop first = start();
    first.publishNow(first.open("engine", buffers), "p", keys("abcd"));
    kill(first);
    TestLoop second = new TestLoop(CONFIG, fold(), clock);
    assertEquals(0, second.state.liveBlocks());
    assertEquals(0, second.state.ssdExtents());
    second.check(fold());
  }

  @Test
  void shouldRefuseOtherLayersForTheSameBytes() {
    TestLoop first = start();
    first.publishNow(first.open("engine", buffers), "p", keys("abcd"));
    kill(first);
    TestLoop second = start();
    FakeBuffers others =
        FakeBuffers.of(1, 2 * Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES / 2);
    Reply.Refused refused =
        second
            .register("engine", "ns", Formats.of(Formats.prefix(0)), 0, 1, SessionRole.LOAD, others)
            .last(Reply.Refused.class);
    assertEquals(RefusalCode.FORMAT_MISMATCH, refused.code());
    assertEquals("layers", refused.field());
  }
}
