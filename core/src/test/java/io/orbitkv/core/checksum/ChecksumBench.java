package io.orbitkv.core.checksum;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Measures the checksum on one core, beside a plain copy of the same bytes in the same run. All
 * ways of one size take turns, so that a busy machine slows them alike; figures are medians of CPU
 * time, so that a preempted thread does not count as a slow one.
 *
 * <p>Run with {@code java --enable-native-access=ALL-UNNAMED -cp
 * core/target/classes:core/target/test-classes io.orbitkv.core.checksum.ChecksumBench [poolMiB]}.
 */
final class ChecksumBench {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int ROUNDS = 11;
  private static final int WARM_ROUNDS = 3;

  private interface Way {
    long run(long sourceOffset, long targetOffset, long bytes);
  }

  private record Named(String name, Way way) {}

  private ChecksumBench() {}

  public static void main(String[] args) {
    long poolBytes = (args.length > 0 ? Long.parseLong(args[0]) : 1024L) << 20;
    warmWithOtherArenas();
    try (Arena arena = Arena.ofShared()) {
      MemorySegment source = filled(arena, poolBytes);
      MemorySegment target = filled(arena, poolBytes);
      Named sum = new Named("sum", (from, to, bytes) -> Checksum.sum(source, from, bytes, 0));
      Named copy =
          new Named(
              "copy",
              (from, to, bytes) -> {
                MemorySegment.copy(source, from, target, to, bytes);
                return 0;
              });
      Named copyAndSum =
          new Named(
              "copyAndSum",
              (from, to, bytes) -> Checksum.copyAndSum(source, from, target, to, bytes, 0));
      System.out.println("In cache (one buffer again and again):");
      for (int kib : new int[] {4, 16, 64, 256, 1024}) {
        measure(kib * 1024L, 8L * 1024 * 1024, 64L << 20, sum, copy, copyAndSum);
      }
      System.out.println("Out of cache (each extent once, pool of " + (poolBytes >> 20) + " MiB):");
      for (int kib : new int[] {4, 16, 64, 256, 1024, 4096}) {
        measure(kib * 1024L, poolBytes, poolBytes, copy, copyAndSum, sum);
      }
    }
  }

  private static void measure(long bytes, long spanBytes, long totalBytes, Named... ways) {
    long calls = totalBytes / bytes;
    boolean cached = spanBytes < totalBytes;
    double[][] gigabytesPerSecond = new double[ways.length][ROUNDS];
    long check = 0;
    for (int round = -WARM_ROUNDS; round < ROUNDS; round++) {
      for (int w = 0; w < ways.length; w++) {
        long started = THREADS.getCurrentThreadCpuTime();
        for (long call = 0; call < calls; call++) {
          long from = cached ? 0 : call * bytes;
          long to = cached ? 0 : (call * 7 + 3) % calls * bytes;
          check += ways[w].way().run(from, to, bytes);
        }
        double nanos = THREADS.getCurrentThreadCpuTime() - started;
        if (round >= 0) {
          gigabytesPerSecond[w][round] = calls * bytes / nanos;
        }
      }
    }
    StringBuilder line = new StringBuilder(String.format("%6d KiB", bytes >> 10));
    double first = 0;
    for (int w = 0; w < ways.length; w++) {
      Arrays.sort(gigabytesPerSecond[w]);
      double median = gigabytesPerSecond[w][ROUNDS / 2];
      first = w == 0 ? median : first;
      line.append(String.format("  %s %.1f GB/s", ways[w].name(), median));
      line.append(w == 0 ? "" : String.format(" (x%.2f)", median / first));
      line.append(String.format(" %.0f ns", bytes / median));
    }
    System.out.println(line + (check == 1 ? " " : ""));
  }

  /** What the compiler learns from other kinds of arena must not spoil the code it makes. */
  private static void warmWithOtherArenas() {
    try (Arena confined = Arena.ofConfined()) {
      for (Arena arena : new Arena[] {confined, Arena.global(), Arena.ofAuto()}) {
        MemorySegment memory = filled(arena, 1 << 16);
        long sum = 0;
        for (int call = 0; call < 5_000; call++) {
          sum += Checksum.sum(memory, call & 511, 1 + call, 8L * call);
        }
        memory.set(ValueLayout.JAVA_LONG, 0, sum);
      }
    }
  }

  private static MemorySegment filled(Arena arena, long bytes) {
    MemorySegment memory = arena.allocate(bytes, 4096);
    SplittableRandom random = new SplittableRandom(7);
    for (long at = 0; at < bytes; at += 8) {
      memory.set(ValueLayout.JAVA_LONG, at, random.nextLong());
    }
    return memory;
  }
}
