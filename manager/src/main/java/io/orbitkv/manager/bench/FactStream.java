package io.orbitkv.manager.bench;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.BlocksEvicted;
import io.orbitkv.state.HostEvent.EpochStarted;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostEvent.InstanceRegistered;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.LeaseGranted;
import io.orbitkv.state.HostEvent.LeaseReleased;
import io.orbitkv.state.HostEvent.NamespaceBound;
import io.orbitkv.state.HostEvent.RestoreFinished;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import io.orbitkv.state.HostEvent.RestoreStarted;
import io.orbitkv.state.HostEvent.SessionOpened;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.HostEvent.SlicesPublished;
import io.orbitkv.state.HostEvent.SlicesReserved;
import io.orbitkv.state.Keys;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.ParallelShape;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.identity.StateComponent;
import io.orbitkv.state.identity.StateFormat;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;

/**
 * The facts that one engine makes on a host whose pool is full: for each request a lease, a
 * restore, the release, and a publish of new blocks that evicts as many old ones. They fold. The
 * same seed gives the same facts.
 */
final class FactStream {
  private static final int POOL_BLOCKS = 1 << 16;
  private static final int EXTENT_BYTES = 64 << 10;
  private static final int KEY_BYTES = 32;
  private static final int PAGE_TOKENS = 64;
  private static final long SESSION = 1;

  private final SplittableRandom random;
  private final Mix mix;
  private final Queue<HostEvent> ahead = new ArrayDeque<>();
  private long requests;
  private long oldestBlock = 1;
  private long nextBlock = 1;
  private long nextGeneration = 1;
  private long nextPublish = 1;
  private long nextLease = 1;
  private long nextRestore = 1;
  private long atMicros;

  /**
   * How many blocks a request is about.
   *
   * @param mostPublished of a publish, at least 1; half as many on average
   * @param mostLeased of a lease, likewise
   */
  record Mix(int mostPublished, int mostLeased) {
    /** Facts as small as they get. */
    static final Mix SMALL = new Mix(1, 4);

    /** As in a trace of conversations: 16 blocks are published and 12 leased by a request. */
    static final Mix CONVERSATIONS = new Mix(31, 24);
  }

  /**
   * @param startMicros when the first fact happens, microseconds since 1970
   */
  FactStream(long seed, long startMicros, Mix mix) {
    this.mix = mix;
    random = new SplittableRandom(seed);
    atMicros = startMicros;
    ahead.add(new EpochStarted(1, "bench", (long) POOL_BLOCKS * EXTENT_BYTES, "{}"));
    ahead.add(new NamespaceBound(1, "bench", format(), 1));
    ahead.add(new InstanceRegistered(1, "bench", 1));
    ahead.add(new SessionOpened(SESSION, 1, 0, SessionRole.LOAD, 4711, 1000, 0));
  }

  /** When the next fact happens, microseconds since 1970. */
  long atMicros() {
    return atMicros;
  }

  /** The next fact. */
  HostEvent next() {
    if (ahead.isEmpty()) {
      request();
    }
    atMicros += 50;
    return ahead.remove();
  }

  private void request() {
    String name = "request-%08x-%d".formatted(random.nextInt(), requests++);
    if (nextBlock > oldestBlock) {
      restore(name);
    }
    publish(name, 1 + random.nextInt(mix.mostPublished()));
  }

  private void restore(String name) {
    int live = (int) (nextBlock - oldestBlock);
    int hit = 1 + random.nextInt(Math.min(live, mix.mostLeased()));
    LongRanges blocks = LongRanges.of(oldestBlock + random.nextInt(live - hit + 1), hit);
    long lease = nextLease++;
    long restore = nextRestore++;
    long bytes = (long) hit * EXTENT_BYTES;
    ahead.add(
        new LeaseGranted(
            lease,
            SESSION,
            name,
            0,
            atMicros + 600_000_000,
            List.of(new GroupLease(0, 0, blocks)),
            List.of(new GroupAnswer(0, hit, hit, Keys.EMPTY, 0))));
    ahead.add(new RestoreStarted(restore, SESSION, lease, hit, bytes));
    ahead.add(
        new RestoreFinished(restore, RestoreOutcome.DONE, bytes, 100 + random.nextInt(5_000)));
    ahead.add(new LeaseReleased(lease, LeaseEnd.RELEASED));
  }

  private void publish(String name, int count) {
    int tooMany = (int) (nextBlock + count - oldestBlock) - POOL_BLOCKS;
    if (tooMany > 0) {
      ahead.add(
          new BlocksEvicted(
              LongRanges.of(oldestBlock, tooMany), EvictionCause.CAPACITY, SESSION, name));
      oldestBlock += tooMany;
    }
    byte[] keys = new byte[KEY_BYTES * count];
    random.nextBytes(keys);
    long[] offsets = new long[count];
    long[] generations = new long[count];
    long[] checksums = new long[count];
    for (int i = 0; i < count; i++) {
      offsets[i] = (nextBlock + i) % POOL_BLOCKS * EXTENT_BYTES;
      generations[i] = nextGeneration++;
      checksums[i] = random.nextLong();
    }
    long publish = nextPublish++;
    ahead.add(
        new SlicesReserved(
            publish,
            SESSION,
            name,
            0,
            0,
            LongRanges.of(nextBlock, count),
            nextBlock,
            Keys.ofPacked(KEY_BYTES, keys),
            Longs.of(offsets),
            Longs.of(generations),
            EXTENT_BYTES));
    ahead.add(new SlicesPublished(publish, Longs.of(checksums)));
    nextBlock += count;
  }

  private static StateFormat format() {
    return new StateFormat(
        "bench",
        "orbitkv-bench",
        "u8",
        "LBT",
        new ParallelShape(1, 1, 1, 0),
        List.of(
            new GroupSpec(
                0,
                StateComponent.ATTENTION_KV,
                PAGE_TOKENS,
                new RecoveryRule.Prefix(),
                false,
                EXTENT_BYTES)));
  }
}
