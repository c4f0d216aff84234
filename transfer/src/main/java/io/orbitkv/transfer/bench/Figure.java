package io.orbitkv.transfer.bench;

import java.util.Locale;

/**
 * What one kind of load gave.
 *
 * @param bytes of each read
 * @param depth reads under way at a time
 * @param streams connections
 * @param engine bytes per second of the engine, median and best of the rounds
 * @param iperf bytes per second of iperf3 with the same streams; NaN where it is not installed
 * @param sockets bytes per second of plain blocking sockets with the same streams and reads
 * @param ofIperf median over the rounds of engine by iperf3
 * @param ofSockets median over the rounds of engine by plain sockets
 * @param p50Micros median time of a read
 * @param p99Micros time that one of a hundred reads exceeds
 * @param cpuNanosPerMegabyte CPU time of both processes per 2^20 bytes
 */
public record Figure(
    int bytes,
    int depth,
    int streams,
    Rate engine,
    Rate iperf,
    Rate sockets,
    double ofIperf,
    double ofSockets,
    double p50Micros,
    double p99Micros,
    double cpuNanosPerMegabyte) {

  /** Bytes per second over the rounds. */
  public record Rate(double median, double best) {
    private String text() {
      return String.format(Locale.ROOT, "%5.2f (%5.2f)", median / 1e9, best / 1e9);
    }
  }

  static String heading() {
    return "   read  depth   engine GB/s    iperf3 GB/s   sockets GB/s  /iperf3 /sockets"
        + "   p50 us   p99 us  CPU us/MiB";
  }

  String line() {
    return String.format(
        Locale.ROOT,
        "%6dK  %5d  %s  %s  %s     %4.2f     %4.2f %8.1f %8.1f  %10.1f",
        bytes >> 10,
        depth,
        engine.text(),
        iperf.text(),
        sockets.text(),
        ofIperf,
        ofSockets,
        p50Micros,
        p99Micros,
        cpuNanosPerMegabyte / 1000);
  }
}
