package io.orbitkv.manager.bench;

import io.orbitkv.core.ssd.device.SsdFiles;
import io.orbitkv.manager.workload.BlockPattern;
import io.orbitkv.manager.workload.EngineShape;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.BlocksDemoted;
import io.orbitkv.state.HostEvent.BlocksLoaded;
import io.orbitkv.state.HostEvent.BlocksLoading;
import io.orbitkv.state.HostEvent.EpochStarted;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostEvent.InstanceRegistered;
import io.orbitkv.state.HostEvent.LayersBound;
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
import io.orbitkv.state.HostEvent.SsdEvicted;
import io.orbitkv.state.HostEvent.SsdEvictionCause;
import io.orbitkv.state.HostEvent.SsdTierOpened;
import io.orbitkv.state.HostEvent.SsdWritten;
import io.orbitkv.state.HostEvent.TicketClosed;
import io.orbitkv.state.HostEvent.TicketEnd;
import io.orbitkv.state.HostEvent.TicketOpened;
import io.orbitkv.state.Keys;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.ParallelShape;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.identity.StateComponent;
import io.orbitkv.state.identity.StateFormat;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.UUID;

/**
 * The facts that one engine makes on a host with an SSD tier: each request publishes blocks, which
 * go to SSD, and the oldest in memory make room for them; once the tier is full a request also
 * waits for blocks that lie on SSD only, restores them, and the oldest there are dropped for the
 * new ones. A sixteenth of the blocks lie in memory as well. They fold. The same seed gives the
 * same facts.
 *
 * <p>Block {@code b} has the key and the bytes that {@link BlockPattern} gives it, and always the
 * same place, so that whoever knows its number can write it where the facts say that it lies.
 */
final class SsdFacts {
  /** Bytes of an extent. */
  static final int EXTENT_BYTES = 4 << 10;

  /** Such that a block with its sum takes one extent. */
  static final EngineShape SHAPE = new EngineShape("bench", "bench", 1, 4_032, 64, 64);

  /** The least number of extents. */
  static final int LEAST_EXTENTS = 2_048;

  private static final int IN_MEMORY = 16;
  private static final int MOST_PUBLISHED = 31;
  private static final int MOST_LEASED = 24;
  private static final long SESSION = 1;

  /** Knows the sum of a block's extent. */
  @FunctionalInterface
  interface Sums {
    /**
     * The sum; called once when the block is published.
     *
     * @param fileOffset where the block lies in the tier's file
     */
    long of(long block, long fileOffset);
  }

  private final SplittableRandom random;
  private final Sums sums;
  private final int extents;
  private final long fileBytes;
  private final Queue<HostEvent> ahead = new ArrayDeque<>();

  /** Blocks by their place in memory, 0 for none; the next to be used comes round. */
  private final long[] memory;

  private int nextPlace;
  private final BitSet inMemory;

  private long requests;
  private long oldestBlock = 1;
  private long nextBlock = 1;
  private long nextGeneration = 1;
  private long nextSsdGeneration = 1;
  private long nextPublish = 1;
  private long nextLease = 1;
  private long nextTicket = 1;
  private long nextRestore = 1;
  private long atMicros;

  /**
   * @param startMicros when the first fact happens, microseconds since 1970
   * @param tierId what the tier's only file carries
   * @param extents how many blocks the tier holds, at least {@link #LEAST_EXTENTS}
   */
  SsdFacts(long seed, long startMicros, UUID tierId, int extents, Sums sums) {
    if (extents < LEAST_EXTENTS) {
      throw new IllegalArgumentException("at least " + LEAST_EXTENTS + " extents");
    }
    this.random = new SplittableRandom(seed);
    this.atMicros = startMicros;
    this.sums = sums;
    this.extents = extents;
    this.fileBytes = fileBytes(extents);
    this.memory = new long[extents / IN_MEMORY];
    this.inMemory = new BitSet(extents);
    ahead.add(new EpochStarted(1, "bench", (long) memory.length * EXTENT_BYTES, "{}"));
    ahead.add(
        new SsdTierOpened(
            tierId.getMostSignificantBits(),
            tierId.getLeastSignificantBits(),
            Longs.of(fileBytes)));
    ahead.add(new NamespaceBound(1, SHAPE.namespace(), format(), 1));
    ahead.add(new LayersBound(1, 0, 0, Longs.of(0), Longs.of(SHAPE.layerBytes())));
    ahead.add(new InstanceRegistered(1, SHAPE.instance(), 1));
    ahead.add(new SessionOpened(SESSION, 1, 0, SessionRole.LOAD, 4711, 1000, 0));
  }

  /** Bytes of the tier's only file. */
  static long fileBytes(int extents) {
    return SsdFiles.FIRST_OFFSET + (long) extents * EXTENT_BYTES;
  }

  /** When the next fact happens, microseconds since 1970. */
  long atMicros() {
    return atMicros;
  }

  /** Whether the facts so far end a request and every extent of the tier is in use. */
  boolean full() {
    return ahead.isEmpty() && nextBlock - oldestBlock == extents;
  }

  /** The oldest block on SSD. */
  long oldestBlock() {
    return oldestBlock;
  }

  /** One more than the youngest block. */
  long nextBlock() {
    return nextBlock;
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
    boolean filled = nextBlock - oldestBlock == extents;
    int count = 1 + random.nextInt(MOST_PUBLISHED);
    if (filled) {
      load(name);
    } else {
      count = (int) Math.min(count, extents - (nextBlock - oldestBlock));
    }
    publish(name, count);
  }

  // ---- from SSD --------------------------------------------------------------------------------

  /**
   * Loads some blocks from the younger half, which are gone from memory before they are dropped.
   */
  private void load(String name) {
    int count = 1 + random.nextInt(MOST_LEASED);
    long first = oldestBlock + extents / 2 + random.nextInt(extents / 4);
    for (long block = first; block < first + count; block++) {
      if (inMemory.get(index(block))) {
        return; // it was asked for a moment ago
      }
    }
    LongRanges blocks = LongRanges.of(first, count);
    long ticket = nextTicket++;
    long lease = nextLease++;
    long restore = nextRestore++;
    long bytes = (long) count * EXTENT_BYTES;
    ahead.add(new TicketOpened(ticket, SESSION, name, blocks));
    Places places = enter(first, count, name);
    ahead.add(
        new BlocksLoading(
            blocks, Longs.of(places.offsets), Longs.of(places.generations), ticket, SESSION, name));
    ahead.add(new BlocksLoaded(blocks, bytes, 100 + random.nextInt(5_000)));
    ahead.add(
        new LeaseGranted(
            lease,
            SESSION,
            name,
            ticket,
            atMicros + 600_000_000,
            List.of(new GroupLease(0, 0, blocks)),
            List.of(new GroupAnswer(0, count, count, Keys.EMPTY, 0))));
    ahead.add(new TicketClosed(ticket, TicketEnd.READY, lease));
    ahead.add(new RestoreStarted(restore, SESSION, lease, count, bytes));
    ahead.add(
        new RestoreFinished(restore, RestoreOutcome.DONE, bytes, 100 + random.nextInt(5_000)));
    ahead.add(new LeaseReleased(lease, LeaseEnd.RELEASED));
  }

  // ---- into memory and to SSD ------------------------------------------------------------------

  private void publish(String name, int count) {
    long first = nextBlock;
    int tooMany = (int) (first + count - oldestBlock - extents);
    if (tooMany > 0) {
      ahead.add(
          new SsdEvicted(
              LongRanges.of(oldestBlock, tooMany), SsdEvictionCause.CAPACITY, SESSION, name));
      oldestBlock += tooMany;
    }
    Places places = enter(first, count, name);
    byte[] keys = new byte[BlockPattern.KEY_BYTES * count];
    long[] checksums = new long[count];
    long[] files = new long[count];
    long[] offsets = new long[count];
    long[] generations = new long[count];
    for (int i = 0; i < count; i++) {
      BlockPattern.key(0, first + i, keys, i * BlockPattern.KEY_BYTES);
      offsets[i] = SsdFiles.FIRST_OFFSET + (long) index(first + i) * EXTENT_BYTES;
      generations[i] = nextSsdGeneration++;
      checksums[i] = sums.of(first + i, offsets[i]);
    }
    LongRanges blocks = LongRanges.of(first, count);
    long publish = nextPublish++;
    ahead.add(
        new SlicesReserved(
            publish,
            SESSION,
            name,
            0,
            0,
            blocks,
            first,
            Keys.ofPacked(BlockPattern.KEY_BYTES, keys),
            Longs.of(places.offsets),
            Longs.of(places.generations),
            EXTENT_BYTES));
    ahead.add(new SlicesPublished(publish, Longs.of(checksums)));
    ahead.add(new SsdWritten(blocks, Longs.of(files), Longs.of(offsets), Longs.of(generations)));
    nextBlock += count;
  }

  private static final class Places {
    final long[] offsets;
    final long[] generations;

    Places(int count) {
      offsets = new long[count];
      generations = new long[count];
    }
  }

  /** Gives blocks places in memory, from which others are demoted. */
  private Places enter(long first, int count, String name) {
    Places places = new Places(count);
    LongRanges.Builder leaving = new LongRanges.Builder();
    for (int i = 0; i < count; i++) {
      long victim = memory[nextPlace];
      if (victim != 0) {
        leaving.add(victim);
        inMemory.clear(index(victim));
      }
      memory[nextPlace] = first + i;
      inMemory.set(index(first + i));
      places.offsets[i] = (long) nextPlace * EXTENT_BYTES;
      places.generations[i] = nextGeneration++;
      nextPlace = (nextPlace + 1) % memory.length;
    }
    if (leaving.size() > 0) {
      ahead.add(new BlocksDemoted(leaving.build(), EvictionCause.CAPACITY, SESSION, name));
    }
    return places;
  }

  /** The block's place on SSD, counted from 0: that of the one that was dropped for it. */
  private int index(long block) {
    return (int) ((block - 1) % extents);
  }

  /** What the endpoint makes of {@link EngineShape#register}. */
  private static StateFormat format() {
    return new StateFormat(
        "workload",
        "orbitkv-workload",
        "u8",
        "LBT",
        new ParallelShape(1, 1, 1, 0),
        List.of(
            new GroupSpec(
                0,
                StateComponent.ATTENTION_KV,
                SHAPE.pageTokens(),
                new RecoveryRule.Prefix(),
                false,
                SHAPE.blockBytes())));
  }
}
