package io.orbitkv.transfer.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.orbitkv.transfer.Grant;
import io.orbitkv.transfer.PeerEndpoint;
import io.orbitkv.transfer.PoolRange;
import io.orbitkv.transfer.RangeRead;
import io.orbitkv.transfer.RangeVerifier;
import io.orbitkv.transfer.ReadOutcome;
import io.orbitkv.transfer.Receipt;
import io.orbitkv.transfer.Secret;
import io.orbitkv.transfer.TransferFailure;
import io.orbitkv.transfer.TransferRead;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * A reader whose source knows the token and sends mutated frames: every read ends within its
 * deadline, and no byte lands outside its destination. Repeat a failure with {@code ./orbitkv test
 * transfer -Dtest=LyingSourceTest -Dorbitkv.seed=SEED}.
 */
class LyingSourceTest {
  private static final int READS = 600;
  private static final int BYTES = 40_000;
  private static final int GUARD_BYTES = 4096;

  private final UUID runtime = UUID.randomUUID();
  private final TransferToken token = TcpTransferContract.TOKEN;

  @Test
  void shouldEndEveryReadAndStayInPlace() throws Exception {
    long seed = Long.getLong("orbitkv.seed", new SecureRandom().nextLong());
    SplittableRandom random = new SplittableRandom(seed);
    try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Arena arena = Arena.ofShared();
        TcpTransferEngine reader =
            TcpTransferEngine.start(
                TcpTransferContract.options().with(TcpOptions.Flow.DEFAULT.withStripes(1)),
                arena.allocate(64))) {
      Thread.ofPlatform().daemon().start(() -> lie(listener, random));
      MemorySegment memory = arena.allocate(BYTES + 2 * GUARD_BYTES);
      int done = 0;
      int misbehaved = 0;
      for (int i = 0; i < READS; i++) {
        memory.fill((byte) 0x11);
        TransferRead read = read(reader, listener, memory.asSlice(GUARD_BYTES, BYTES));
        ReadOutcome outcome = read.outcome().get(5, TimeUnit.SECONDS);
        read.released().get(5, TimeUnit.SECONDS);
        done += outcome instanceof Receipt ? 1 : 0;
        misbehaved += outcome instanceof TransferFailure.Misbehaved ? 1 : 0;
        for (int at = 0; at < GUARD_BYTES; at++) {
          assertEquals(0x11, memory.get(ValueLayout.JAVA_BYTE, at));
          assertEquals(0x11, memory.get(ValueLayout.JAVA_BYTE, BYTES + GUARD_BYTES + at));
        }
      }
      assertTrue(done > 50, done + " were done");
      assertTrue(misbehaved > 50, misbehaved + " found a lie");
      assertEquals(0, reader.stats().bytesInFlight());
      assertEquals(0, reader.stats().readsInQuarantine());
    } catch (Exception | AssertionError e) {
      throw new AssertionError(
          "seed "
              + seed
              + ": ./orbitkv test transfer -Dtest=LyingSourceTest -Dorbitkv.seed="
              + seed,
          e);
    }
  }

  @Test
  void shouldNotTrustASourceWithoutTheToken() throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Arena arena = Arena.ofShared();
        TcpTransferEngine reader =
            TcpTransferEngine.start(TcpTransferContract.options(), arena.allocate(64))) {
      Thread source =
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    try (Socket peer = listener.accept()) {
                      var _ = greet(peer, TcpTransferContract.token("some other token"));
                      int ended = peer.getInputStream().read();
                      assertEquals(-1, ended);
                    } catch (IOException gone) {
                      return;
                    }
                  });
      TransferRead read = read(reader, listener, arena.allocate(BYTES));
      assertInstanceOf(TransferFailure.Misbehaved.class, read.outcome().get(5, TimeUnit.SECONDS));
      source.join();
    }
  }

  private TransferRead read(
      TcpTransferEngine reader, ServerSocket listener, MemorySegment destination) {
    PoolRange range = new PoolRange(0, BYTES);
    return reader.read(
        new PeerEndpoint("127.0.0.1", listener.getLocalPort(), runtime),
        new Grant(
            UUID.randomUUID(), new Secret(1, 2), runtime, List.of(range), Duration.ofMinutes(1)),
        List.of(new RangeRead(range, destination)),
        RangeVerifier.NONE,
        Duration.ofMillis(400));
  }

  private void lie(ServerSocket listener, SplittableRandom random) {
    while (true) {
      try (Socket peer = listener.accept()) {
        peer.setTcpNoDelay(true);
        InputStream in = greet(peer, token);
        long request = 0;
        while (true) {
          if (in.readNBytes(Wire.Read.bytesOf(1)).length < Wire.Read.bytesOf(1)) {
            break;
          }
          ByteBuf out = Unpooled.buffer();
          new Wire.Answer(Wire.ANSWER_MAGIC, 0, request++, BYTES).write(out);
          if (random.nextInt(4) == 0) {
            int at = random.nextInt(Wire.ANSWER_BYTES);
            out.setByte(at, out.getByte(at) ^ (1 << random.nextInt(8)));
          }
          out.writeZero(BYTES);
          switch (random.nextInt(40)) {
            case 0 -> out.writerIndex(random.nextInt(out.readableBytes()));
            case 1 -> out.writeZero(5000);
            default -> {}
          }
          peer.getOutputStream().write(out.array(), 0, out.readableBytes());
          if (out.readableBytes() < Wire.ANSWER_BYTES + BYTES) {
            break;
          }
        }
      } catch (IOException gone) {
        if (listener.isClosed()) {
          return;
        }
      }
    }
  }

  private InputStream greet(Socket peer, TransferToken shown) throws IOException {
    Bits256 nonce = new Bits256(9, 8, 7, 6);
    ByteBuf out = Unpooled.buffer();
    new Wire.Challenge(Wire.MAGIC, Wire.VERSION, nonce).write(out);
    peer.getOutputStream().write(out.array(), 0, out.readableBytes());
    InputStream in = peer.getInputStream();
    byte[] bytes = in.readNBytes(Wire.HELLO_BYTES);
    if (bytes.length < Wire.HELLO_BYTES) {
      throw new IOException("no hello");
    }
    Wire.Hello hello = Wire.Hello.read(Unpooled.wrappedBuffer(bytes));
    out.clear();
    new Wire.Welcome(
            Wire.MAGIC,
            Wire.VERSION,
            0,
            64 << 20,
            16,
            shown.ofSource(nonce, hello.nonce(), hello.reader(), hello.source()))
        .write(out);
    peer.getOutputStream().write(out.array(), 0, out.readableBytes());
    return in;
  }
}
