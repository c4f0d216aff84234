package io.orbitkv.transfer.bench;

import io.orbitkv.transfer.TransferEngine;
import io.orbitkv.transfer.tcp.TcpOptions;
import io.orbitkv.transfer.tcp.TcpTransferEngine;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Two processes on loopback. Each kind of load is measured in rounds, and in each round iperf3,
 * plain sockets and the engine take turns, so that a ratio is of neighbours in time.
 */
public final class TransferBench {
  static final long POOL_BYTES = 64L << 20;
  private static final double WARM_UP_SECONDS = 1.0;

  private TransferBench() {}

  /**
   * What to measure.
   *
   * @param sizes bytes of a read, each a divisor of 64 MiB
   * @param depths reads under way at a time
   * @param streams connections
   * @param rounds how often each load is measured, at least 1
   * @param seconds of each measurement
   */
  public record Settings(
      List<Integer> sizes,
      List<Integer> depths,
      int streams,
      int rounds,
      double seconds,
      TcpOptions.Preference transport,
      int eventLoops) {
    /** 64 KiB to 4 MiB, alone and 16 at a time, over two connections. */
    public static final Settings DEFAULT =
        new Settings(
            List.of(64 << 10, 256 << 10, 1 << 20, 4 << 20),
            List.of(1, 16),
            2,
            3,
            0.7,
            TcpOptions.Preference.AUTO,
            TcpOptions.eventLoopsFor(Runtime.getRuntime().availableProcessors()));
  }

  /** What was measured, and over what. */
  public record Report(String carrier, String reason, List<Figure> figures) {}

  /** Measures, and tells of each figure as it comes. */
  public static Report run(Settings settings, Consumer<Figure> progress)
      throws IOException, InterruptedException {
    TcpOptions options = BenchSource.options(settings.transport(), settings.eventLoops());
    TcpOptions.Flow flow = options.flow().withStripes(settings.streams());
    int largest = settings.sizes().stream().max(Integer::compare).orElseThrow();
    int deepest = settings.depths().stream().max(Integer::compare).orElseThrow();
    try (Arena arena = Arena.ofShared();
        BenchSource source = BenchSource.start(settings);
        TransferEngine engine = TcpTransferEngine.start(options.with(flow), arena.allocate(4096))) {
      MemorySegment destinations = arena.allocate((long) largest * deepest, 4096);
      destinations.fill((byte) 1);
      for (int size : settings.sizes()) {
        var _ = Load.run(engine, source, destinations, size, deepest, WARM_UP_SECONDS);
      }
      List<Figure> figures = new ArrayList<>();
      for (int size : settings.sizes()) {
        for (int depth : settings.depths()) {
          Figure figure = measure(settings, engine, source, destinations, size, depth);
          figures.add(figure);
          progress.accept(figure);
        }
      }
      return new Report(engine.carrier().name(), engine.carrier().reason(), figures);
    }
  }

  private static Figure measure(
      Settings settings,
      TransferEngine engine,
      BenchSource source,
      MemorySegment destinations,
      int size,
      int depth)
      throws IOException, InterruptedException {
    int rounds = settings.rounds();
    double[] ours = new double[rounds];
    double[] iperf = new double[rounds];
    double[] sockets = new double[rounds];
    double[] ofIperf = new double[rounds];
    double[] ofSockets = new double[rounds];
    double[] p50 = new double[rounds];
    double[] p99 = new double[rounds];
    double[] cpu = new double[rounds];
    for (int i = 0; i < rounds; i++) {
      iperf[i] = Iperf.run(settings.streams(), Math.max(1, (int) Math.round(settings.seconds())));
      Duration before = cpuTime(source);
      Load.Result result = Load.run(engine, source, destinations, size, depth, settings.seconds());
      cpu[i] = cpuTime(source).minus(before).toNanos() / Math.max(1.0, result.bytes() / 1048576.0);
      sockets[i] =
          PlainSockets.run(
              source.plainPort(), POOL_BYTES, size, depth, settings.streams(), settings.seconds());
      ours[i] = result.bytesPerSecond();
      ofIperf[i] = ours[i] / iperf[i];
      ofSockets[i] = ours[i] / sockets[i];
      p50[i] = result.p50Nanos() / 1000;
      p99[i] = result.p99Nanos() / 1000;
    }
    return new Figure(
        size,
        depth,
        settings.streams(),
        rate(ours),
        rate(iperf),
        rate(sockets),
        median(ofIperf),
        median(ofSockets),
        median(p50),
        median(p99),
        median(cpu));
  }

  private static Duration cpuTime(BenchSource source) {
    return source
        .cpuTime()
        .plus(ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO));
  }

  private static Figure.Rate rate(double[] rounds) {
    return new Figure.Rate(median(rounds), Arrays.stream(rounds).max().orElseThrow());
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  /** Prints a table: {@code [streams [transport [event loops [sizes in KiB, by commas]]]]}. */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    Settings base = Settings.DEFAULT;
    int streams = arguments.length > 0 ? Integer.parseInt(arguments[0]) : base.streams();
    TcpOptions.Preference transport =
        arguments.length > 1 ? TcpOptions.Preference.valueOf(arguments[1]) : base.transport();
    int loops = arguments.length > 2 ? Integer.parseInt(arguments[2]) : base.eventLoops();
    List<Integer> sizes =
        arguments.length > 3
            ? Arrays.stream(arguments[3].split(",", -1))
                .map(each -> Integer.parseInt(each) << 10)
                .toList()
            : base.sizes();
    System.out.println(Figure.heading());
    Report report =
        run(
            new Settings(
                sizes, base.depths(), streams, base.rounds(), base.seconds(), transport, loops),
            figure -> System.out.println(figure.line()));
    System.out.println(
        report.carrier()
            + " ("
            + report.reason()
            + "), "
            + streams
            + " streams, "
            + loops
            + " event loops");
  }
}
