package io.orbitkv.transfer.bench;

import io.orbitkv.transfer.Grant;
import io.orbitkv.transfer.PeerEndpoint;
import io.orbitkv.transfer.PoolRange;
import io.orbitkv.transfer.Secret;
import io.orbitkv.transfer.tcp.TcpOptions;
import io.orbitkv.transfer.tcp.TcpTransferEngine;
import io.orbitkv.transfer.tcp.TransferToken;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** The process that the bench reads from: one pool, one grant of all of it. */
public final class BenchSource implements AutoCloseable {
  static final TransferToken TOKEN =
      new TransferToken("a bench on loopback".getBytes(StandardCharsets.US_ASCII));

  private final Process process;
  private final PeerEndpoint endpoint;
  private final Grant grant;
  private final int plainPort;

  private BenchSource(Process process, String[] words) {
    this.process = process;
    this.plainPort = Integer.parseInt(words[5]);
    UUID runtime = UUID.fromString(words[1]);
    this.endpoint = new PeerEndpoint("127.0.0.1", Integer.parseInt(words[0]), runtime);
    this.grant =
        new Grant(
            UUID.fromString(words[2]),
            new Secret(Long.parseLong(words[3]), Long.parseLong(words[4])),
            runtime,
            List.of(new PoolRange(0, TransferBench.POOL_BYTES)),
            Duration.ofHours(1));
  }

  static BenchSource start(TransferBench.Settings settings) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+UseSerialGC",
            "-cp",
            System.getProperty("java.class.path"),
            BenchSource.class.getName(),
            settings.transport().name(),
            Integer.toString(settings.eventLoops()));
    Process process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    BufferedReader out = process.inputReader();
    String line = out.readLine();
    if (line == null) {
      throw new IOException("the source did not start");
    }
    return new BenchSource(process, line.split(" ", -1));
  }

  PeerEndpoint endpoint() {
    return endpoint;
  }

  Grant grant() {
    return grant;
  }

  int plainPort() {
    return plainPort;
  }

  Duration cpuTime() {
    return process.info().totalCpuDuration().orElse(Duration.ZERO);
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }

  static TcpOptions options(TcpOptions.Preference transport, int eventLoops) {
    return TcpOptions.of(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), UUID.randomUUID(), TOKEN)
        .with(transport)
        .withEventLoops(eventLoops);
  }

  /** The source's process: says where it is, and serves until its input ends. */
  public static void main(String[] arguments) throws IOException {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment pool = arena.allocate(TransferBench.POOL_BYTES, 4096);
      pool.fill((byte) 7);
      TcpOptions options =
          options(TcpOptions.Preference.valueOf(arguments[0]), Integer.parseInt(arguments[1]));
      try (TcpTransferEngine engine = TcpTransferEngine.start(options, pool)) {
        Grant grant =
            engine
                .grants()
                .open(List.of(new PoolRange(0, pool.byteSize())), Duration.ofHours(1))
                .orElseThrow();
        System.out.printf(
            "%d %s %s %d %d %d%n",
            engine.endpoint().port(),
            grant.runtime(),
            grant.id(),
            grant.secret().high(),
            grant.secret().low(),
            PlainSockets.serve(pool));
        while (System.in.read() >= 0) {
          Thread.onSpinWait();
        }
      }
    }
  }
}
