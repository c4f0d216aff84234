package io.orbitkv.core;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.Command.GroupKeys;
import io.orbitkv.core.Command.Query;
import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.Command.Release;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.core.pool.PoolId;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Keys;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * What one query costs on the loop thread, without channel and journal. The bounds are loose
 * because the machine may be shared; the figures are printed.
 */
class QueryCostTest {
  private static final int POOL_BLOCKS = 40_000;
  private static final int KEY_BYTES = 32;

  /** Keeps nothing of the facts. */
  private static final class NoLog implements FactLog {
    private long position;

    @Override
    public long append(long atMicros, HostEvent event) {
      return ++position;
    }

    @Override
    public boolean hasRoom(int facts, long columnBytes) {
      return true;
    }

    @Override
    public void endBatch() {}
  }

  private final HostConfig config = TestLoop.config(POOL_BLOCKS).inlineCopyBytes(1 << 30).build();
  private final FakeCopies copies = new FakeCopies();
  private final Decider decider =
      new Decider(
          config,
          "test",
          new HostState(),
          new NoLog(),
          Clock.SYSTEM,
          config.eviction().create(),
          new ExtentAllocator(config.poolBytes(), 1),
          MemorySegment.ofArray(new byte[(int) config.poolBytes()]),
          copies,
          SessionListener.NONE,
          null,
          PoolId.NONE,
          null);
  private Reply last = new Reply.Cancelled(false);
  private final ReplySink sink = reply -> last = reply;

  private void handle(Command command) {
    decider.handle(command);
    decider.endBatch();
  }

  private static Keys prompt(int number, int blocks) {
    byte[] packed = new byte[blocks * KEY_BYTES];
    new Random(number).nextBytes(packed);
    return Keys.ofPacked(KEY_BYTES, packed);
  }

  @Test
  void shouldAnswerQueriesInMicroseconds() {
    while (decider.start()) {}
    handle(
        new Command.Register(
            "engine",
            "ns",
            Formats.of(Formats.prefix(0)),
            0,
            1,
            SessionRole.LOAD,
            1,
            1,
            0,
            FakeBuffers.of(1, Formats.LAYERS, 2048, Formats.LAYER_BYTES),
            sink));
    int[] sources = TestLoop.upTo(2048);
    Keys[] prompts = new Keys[16];
    for (int i = 0; i < prompts.length; i++) {
      prompts[i] = prompt(i, 2048);
    }
    measurePublish();
    for (Keys prompt : prompts) {
      handle(new Command.Publish(1, "p", 0, prompt, sources, sink));
    }
    Keys[] firsts = new Keys[prompts.length];
    for (int i = 0; i < firsts.length; i++) {
      firsts[i] = prompts[i].slice(0, 1);
    }
    measure("1 block", firsts, 300_000, 50_000);
    measure("2,048 blocks", prompts, 4_000, 5_000_000);
  }

  /** New blocks, 24 at a time, into a full pool; with copies of 128 bytes a block. */
  private void measurePublish() {
    int rounds = 6_000;
    int[] sources = TestLoop.upTo(24);
    long[] nanos = new long[rounds];
    for (int i = 0; i < rounds; i++) {
      Keys keys = prompt(1_000 + i, 24);
      long start = System.nanoTime();
      handle(new Command.Publish(1, "p", 0, keys, sources, sink));
      nanos[i] = System.nanoTime() - start;
    }
    long[] late = Arrays.copyOfRange(nanos, rounds / 2, rounds);
    Arrays.sort(late);
    System.out.printf("publish of 24 new blocks: p50 %.2f us%n", late[late.length / 2] / 1e3);
  }

  private void measure(String what, Keys[] prompts, int rounds, long boundNanos) {
    long[] query = new long[rounds];
    long[] release = new long[rounds];
    for (int i = 0; i < rounds; i++) {
      List<GroupKeys> groups = List.of(new GroupKeys(0, prompts[i % prompts.length]));
      long t0 = System.nanoTime();
      handle(new Query(1, "q", 0, 0, groups, QueryMode.LEASE, 0, false, sink));
      long t1 = System.nanoTime();
      handle(new Release(1, "r", ((Reply.Ready) last).leaseId(), sink));
      query[i] = t1 - t0;
      release[i] = System.nanoTime() - t1;
    }
    long[] late = Arrays.copyOfRange(query, rounds / 2, rounds);
    long[] lateRelease = Arrays.copyOfRange(release, rounds / 2, rounds);
    Arrays.sort(late);
    Arrays.sort(lateRelease);
    System.out.printf(
        "query of %s: p50 %.2f us, p99 %.2f us; release p50 %.2f us%n",
        what,
        late[late.length / 2] / 1e3,
        late[late.length * 99 / 100] / 1e3,
        lateRelease[lateRelease.length / 2] / 1e3);
    assertTrue(late[late.length / 2] < boundNanos, what + " takes too long");
  }
}
