package io.orbitkv.state;

import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Measures the fold in CPU time of its thread, so that neighbours count less; not a test. Prints
 * facts/s over mixed small facts, lookups of 2,048 keys, the slowest fact while a million blocks
 * arrive, and checkpoint speed.
 *
 * <p>{@code mvn -o test-compile -pl state && java -Xmx2g -cp
 * state/target/classes:state/target/test-classes io.orbitkv.state.FoldSpeed}
 */
final class FoldSpeed {
  private static final int KEY_BYTES = 32;
  private static final int EXTENT_BYTES = 4096;
  private static final int BLOCKS = Integer.getInteger("blocks", 1_000_000);
  private static final int PROMPT = 2048;

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final HostState state = new HostState();
  private final Random random = new Random(7);
  private long position;

  public static void main(String[] args) throws IOException {
    for (int round = 1; round <= 3; round++) {
      System.out.printf("round %d%n", round);
      new FoldSpeed().run();
    }
  }

  private void run() throws IOException {
    for (String line :
        List.of("epoch 1 pool=1099511627776", "bind 1 chat", "register 1 engine in=1", "open 1")) {
      apply(FactText.parse(line));
    }
    fill();
    System.out.printf("  heap per block %.1f bytes%n", state.heapBytes() / (double) BLOCKS);
    lookups();
    leases();
    mixed();
    checkpoint();
  }

  private static long cpuNanos() {
    return THREADS.getCurrentThreadCpuTime();
  }

  private void apply(HostEvent event) {
    state.apply(new Fact(++position, position, event), Effects.NONE);
  }

  private void fill() {
    long slowest = 0;
    long begun = cpuNanos();
    List<HostEvent> facts = new ArrayList<>();
    for (int first = 1; first <= BLOCKS; first += 64) {
      facts.add(reserve(first / 64 + 1, first, 64));
      facts.add(new HostEvent.SlicesPublished(first / 64 + 1, Longs.of(new long[64])));
    }
    long made = cpuNanos();
    for (HostEvent event : facts) {
      long from = cpuNanos();
      apply(event);
      slowest = Math.max(slowest, cpuNanos() - from);
    }
    System.out.printf(
        "  %,d blocks arrived by 64 in %d ms (made in %d ms), slowest fact %d us%n",
        state.sealedBlocks(),
        (cpuNanos() - made) / 1_000_000,
        (made - begun) / 1_000_000,
        slowest / 1000);
  }

  private HostEvent reserve(long publishId, long first, int count) {
    byte[] keys = new byte[count * KEY_BYTES];
    random.nextBytes(keys);
    long[] offsets = new long[count];
    long[] generations = new long[count];
    for (int i = 0; i < count; i++) {
      offsets[i] = (first + i) * EXTENT_BYTES;
      generations[i] = 1;
    }
    return new HostEvent.SlicesReserved(
        publishId,
        1,
        "request",
        0,
        0,
        LongRanges.of(first, count),
        first,
        Keys.ofPacked(KEY_BYTES, keys),
        Longs.of(offsets),
        Longs.of(generations),
        EXTENT_BYTES);
  }

  private void lookups() {
    byte[] together = new byte[PROMPT * KEY_BYTES];
    byte[] scattered = new byte[PROMPT * KEY_BYTES];
    byte[] absent = new byte[PROMPT * KEY_BYTES];
    byte[] absentToo = new byte[PROMPT * KEY_BYTES];
    int[] slots = new int[PROMPT];
    long[] prefix = new long[201];
    long[] far = new long[201];
    long[] one = new long[201];
    long[] none = new long[201];
    long[] noneTogether = new long[201];
    for (int round = 0; round < prefix.length; round++) {
      int start = random.nextInt(BLOCKS - PROMPT) + 1;
      random.nextBytes(absent);
      random.nextBytes(absentToo);
      for (int i = 0; i < PROMPT; i++) {
        state.copyKey(state.slotOf(start + i), together, i * KEY_BYTES);
        state.copyKey(state.slotOf(random.nextInt(BLOCKS) + 1), scattered, i * KEY_BYTES);
      }
      Keys sequential = Keys.ofPacked(KEY_BYTES, together);
      Keys wild = Keys.ofPacked(KEY_BYTES, scattered);
      long a = System.nanoTime();
      int found = state.findPrefix(1, 0, sequential, 0, slots);
      long b = System.nanoTime();
      found += state.findPrefix(1, 0, wild, 0, slots);
      long c = System.nanoTime();
      for (int i = 0; i < PROMPT; i++) {
        found += state.findSlot(1, 0, scattered, i * KEY_BYTES, KEY_BYTES) >= 0 ? 1 : 0;
      }
      long d = System.nanoTime();
      for (int i = 0; i < PROMPT; i++) {
        found -= state.findSlot(1, 0, absent, i * KEY_BYTES, KEY_BYTES) < 0 ? 1 : 0;
      }
      long e = System.nanoTime();
      state.findSlots(1, 0, Keys.ofPacked(KEY_BYTES, absentToo), 0, PROMPT, slots);
      long f = System.nanoTime();
      for (int slot : slots) {
        found += slot + 1;
      }
      if (found != 2 * PROMPT) {
        throw new AssertionError(found);
      }
      prefix[round] = b - a;
      far[round] = c - b;
      one[round] = d - c;
      none[round] = e - d;
      noneTogether[round] = f - e;
    }
    System.out.printf(
        "  2,048 keys, median us: findPrefix of one prompt %.1f, of scattered blocks %.1f; findSlot"
            + " of scattered (warm) %.1f, of absent keys %.1f; findSlots of absent keys %.1f%n",
        median(prefix), median(far), median(one), median(none), median(noneTogether));
  }

  private static double median(long[] nanos) {
    Arrays.sort(nanos);
    return nanos[nanos.length / 2] / 1000.0;
  }

  private void leases() {
    long[] grant = new long[201];
    long[] release = new long[201];
    for (int round = 0; round < grant.length; round++) {
      LongRanges blocks = LongRanges.of(random.nextInt(BLOCKS - PROMPT) + 1, PROMPT);
      HostEvent granted = lease(round + 1, blocks);
      long a = System.nanoTime();
      apply(granted);
      long b = System.nanoTime();
      apply(new HostEvent.LeaseReleased(round + 1, LeaseEnd.RELEASED));
      grant[round] = b - a;
      release[round] = System.nanoTime() - b;
    }
    System.out.printf(
        "  a lease of 2,048 blocks: granted in %.1f us, released in %.1f us%n",
        median(grant), median(release));
  }

  private static HostEvent lease(long leaseId, LongRanges blocks) {
    return new HostEvent.LeaseGranted(
        leaseId,
        1,
        "request",
        0,
        0,
        List.of(new GroupLease(0, 0, blocks)),
        List.of(new GroupAnswer(0, blocks.size(), blocks.size(), Keys.EMPTY, 0)));
  }

  private void mixed() {
    int loops = 200_000;
    List<HostEvent> facts = new ArrayList<>();
    long publishId = state.nextPublishId();
    long blockId = state.nextBlockId();
    long leaseId = state.nextLeaseId();
    for (int i = 0; i < loops; i++) {
      LongRanges run = LongRanges.of(random.nextInt(BLOCKS - 1008) + 1001, 4);
      facts.add(lease(leaseId + i, run));
      facts.add(new HostEvent.RestoreStarted(i + 1, 1, leaseId + i, 4, 4 * EXTENT_BYTES));
      facts.add(new HostEvent.RestoreFinished(i + 1, RestoreOutcome.DONE, 4 * EXTENT_BYTES, 9));
      facts.add(new HostEvent.LeaseReleased(leaseId + i, LeaseEnd.RELEASED));
      facts.add(
          new HostEvent.QueryMissed(1, "miss", List.of(new GroupAnswer(0, 4, 0, Keys.EMPTY, 0))));
      facts.add(
          new HostEvent.BlocksEvicted(
              LongRanges.of(i < 1000 ? i + 1 : blockId + i - 1000, 1),
              EvictionCause.CAPACITY,
              1,
              "request"));
      facts.add(reserve(publishId + i, blockId + i, 1));
      facts.add(new HostEvent.SlicesPublished(publishId + i, Longs.of(5)));
    }
    long begun = cpuNanos();
    for (HostEvent event : facts) {
      apply(event);
    }
    long took = cpuNanos() - begun;
    System.out.printf("  %.2f million mixed facts/s%n", facts.size() * 1000.0 / took);
    HostInvariants.checkDeep(state);
  }

  private void checkpoint() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(128 << 20);
    long a = cpuNanos();
    state.writeTo(new DataOutputStream(bytes));
    long b = cpuNanos();
    HostState read =
        HostState.readFrom(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    long c = cpuNanos();
    System.out.printf(
        "  checkpoint of %,d blocks: %.1f bytes each, written in %d ms, read in %d ms, equal %b%n",
        read.sealedBlocks(),
        bytes.size() / (double) BLOCKS,
        (b - a) / 1_000_000,
        (c - b) / 1_000_000,
        read.digest() == state.digest());
  }
}
