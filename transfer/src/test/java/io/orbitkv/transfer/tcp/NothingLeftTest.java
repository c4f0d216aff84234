package io.orbitkv.transfer.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.orbitkv.transfer.Grant;
import io.orbitkv.transfer.PoolRange;
import io.orbitkv.transfer.RangeRead;
import io.orbitkv.transfer.RangeVerifier;
import io.orbitkv.transfer.Receipt;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What remains of engines that were closed and of peers that do not take what they asked for. */
class NothingLeftTest {
  private static final PoolRange ALL = new PoolRange(0, 32L << 20);

  @Test
  void shouldLeaveNoDescriptorOpen() throws Exception {
    readOnce();
    long before = descriptors();
    for (int i = 0; i < 5; i++) {
      readOnce();
    }
    long after = descriptors();
    assertTrue(after <= before + 2, after + " descriptors are open, before " + before);
  }

  @Test
  void shouldDrainTheGrantOfAReaderThatTakesNothing() throws Exception {
    TcpOptions.Patience brief =
        new TcpOptions.Patience(
            Duration.ofSeconds(5), Duration.ofMillis(400), Duration.ofSeconds(30));
    try (Arena arena = Arena.ofShared();
        TcpTransferEngine source =
            TcpTransferEngine.start(
                TcpTransferContract.options().with(brief), arena.allocate(ALL.length()));
        Socket silent = new Socket(InetAddress.getLoopbackAddress(), source.endpoint().port())) {
      Grant grant = source.grants().open(List.of(ALL), Duration.ofMinutes(1)).orElseThrow();
      ask(silent, source, grant);
      long end = System.nanoTime() + Duration.ofSeconds(5).toNanos();
      while (source.grants().readsInFlight() == 0) {
        assertTrue(System.nanoTime() < end, "the read was not admitted");
        Thread.sleep(1);
      }
      source.grants().revoke(grant.id()).get(10, TimeUnit.SECONDS);
      assertEquals(1, source.stats().stalled());
      assertEquals(0, source.stats().bytesServed());
    }
  }

  private static void ask(Socket socket, TcpTransferEngine source, Grant grant) throws IOException {
    InputStream in = socket.getInputStream();
    Wire.Challenge challenge =
        Wire.Challenge.read(Unpooled.wrappedBuffer(in.readNBytes(Wire.CHALLENGE_BYTES)));
    UUID reader = UUID.randomUUID();
    Bits256 nonce = new Bits256(1, 2, 3, 4);
    ByteBuf out = Unpooled.buffer();
    new Wire.Hello(
            Wire.MAGIC,
            Wire.VERSION,
            reader,
            grant.runtime(),
            nonce,
            TcpTransferContract.TOKEN.ofReader(
                challenge.nonce(), nonce, reader, source.endpoint().runtime()))
        .write(out);
    new Wire.Read(0, grant.id(), grant.secret(), grant.runtime(), List.of(ALL)).write(out);
    socket.getOutputStream().write(out.array(), 0, out.readableBytes());
  }

  private static void readOnce() throws Exception {
    try (Arena arena = Arena.ofShared();
        TcpTransferEngine source =
            TcpTransferEngine.start(TcpTransferContract.options(), arena.allocate(ALL.length()));
        TcpTransferEngine reader =
            TcpTransferEngine.start(TcpTransferContract.options(), arena.allocate(64))) {
      Grant grant = source.grants().open(List.of(ALL), Duration.ofMinutes(1)).orElseThrow();
      var read =
          reader.read(
              source.endpoint(),
              grant,
              List.of(new RangeRead(ALL, arena.allocate(ALL.length()))),
              RangeVerifier.NONE,
              Duration.ofSeconds(20));
      assertInstanceOf(Receipt.class, read.outcome().get(20, TimeUnit.SECONDS));
      read.released().get(1, TimeUnit.SECONDS);
    }
  }

  private static long descriptors() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.count();
    }
  }
}
