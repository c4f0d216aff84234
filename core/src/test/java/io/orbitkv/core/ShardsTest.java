package io.orbitkv.core;

import static io.orbitkv.core.TestLoop.keys;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.HostState;
import io.orbitkv.state.identity.StateFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ShardsTest {
  private final TestLoop loop = new TestLoop(TestLoop.config(16).build());
  private final FakeBuffers pages0 = pages();
  private final FakeBuffers pages1 = pages();

  @AfterEach
  void replayEqualsTheLiveState() {
    loop.check(new HostState());
  }

  private static FakeBuffers pages() {
    return FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES);
  }

  private long shard(StateFormat format, int shard, FakeBuffers pages) {
    return loop.register("tp2", "ns", format, shard, 2, SessionRole.LOAD, pages)
        .last(Reply.Registered.class)
        .sessionId();
  }

  @Test
  void shouldSealWhenEveryShardHasPublished() {
    StateFormat format = Formats.of(Formats.prefix(0));
    long zero = shard(format, 0, pages0);
    long one = shard(format, 1, pages1);
    pages0.fill(0, 0, 10);
    pages1.fill(0, 0, 20);
    loop.publishNow(zero, "p", keys("ab"));
    loop.query(zero, "q", QueryMode.LEASE, keys("ab")).last(Reply.Missed.class);
    Reply.Published second = loop.publishNow(one, "p", keys("ab")).last(Reply.Published.class);
    assertArrayEquals(new byte[] {0, 0}, second.outcomes());
    Reply.Ready ready = loop.lease(one, "q", keys("ab"));
    loop.restore(one, ready.leaseId(), 0, 9);
    loop.restore(zero, ready.leaseId(), 0, 9);
    loop.drain();
    assertEquals(20, pages1.read(0, 9));
    assertEquals(10, pages0.read(0, 9));
    assertArrayEquals(
        new byte[] {1, 1},
        loop.publishNow(zero, "p", keys("ab")).last(Reply.Published.class).outcomes());
  }

  @Test
  void shouldStoreAReplicatedGroupOnce() {
    StateFormat format = Formats.of(Formats.replicated(0));
    long zero = shard(format, 0, pages0);
    long one = shard(format, 1, pages1);
    pages1.fill(0, 0, 20);
    TestLoop.Answers first = loop.publish(one, "p", 0, keys("a"));
    TestLoop.Answers second = loop.publish(zero, "p", 0, keys("a"));
    loop.drain();
    assertArrayEquals(new byte[] {0}, first.last(Reply.Published.class).outcomes());
    assertArrayEquals(new byte[] {2}, second.last(Reply.Published.class).outcomes());
    assertEquals(Formats.EXTENT_BYTES, loop.extents.usedBytes());
    loop.restore(zero, loop.lease(zero, "q", keys("a")).leaseId(), 0, 3);
    loop.drain();
    assertEquals(20, pages0.read(0, 3));
  }

  @Test
  void shouldDropABlockThatIsNeverSealed() {
    StateFormat format = Formats.of(Formats.prefix(0));
    long zero = shard(format, 0, pages0);
    long one = shard(format, 1, pages1);
    loop.publishNow(zero, "p", keys("ab"));
    loop.clock.advanceMillis(59_000);
    loop.publish(one, "p", 0, keys("b"));
    loop.clock.advanceMillis(2_000);
    loop.step();
    assertEquals(1, loop.state.liveBlocks(), "b is being published");
    loop.drain();
    loop.lease(one, "q", keys("b"));
    assertEquals(2L * Formats.EXTENT_BYTES, loop.extents.usedBytes());
  }

  @Test
  void shouldWaitForTheOtherShardsSlice() {
    StateFormat format = Formats.of(Formats.prefix(0));
    long zero = shard(format, 0, pages0);
    long one = shard(format, 1, pages1);
    loop.publishNow(zero, "p", keys("abc"));
    loop.publishNow(one, "p", keys("a"));
    TestLoop.Answers waiting = loop.query(zero, "q", QueryMode.WAIT, keys("abcx"));
    waiting.last(Reply.Loading.class);
    loop.publishNow(one, "p", keys("b"));
    assertEquals(1, waiting.replies.size(), "c is still missing");
    loop.publishNow(one, "p", keys("c"));
    assertEquals(12, waiting.last(Reply.Ready.class).boundaryToken());
  }
}
