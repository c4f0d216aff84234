package io.orbitkv.transfer.tcp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.transfer.DrainProof;
import io.orbitkv.transfer.Grant;
import io.orbitkv.transfer.Pattern;
import io.orbitkv.transfer.PoolRange;
import io.orbitkv.transfer.RangeRead;
import io.orbitkv.transfer.RangeVerifier;
import io.orbitkv.transfer.Receipt;
import io.orbitkv.transfer.TransferFailure;
import io.orbitkv.transfer.TransferRead;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Peers that die, stop and come back in the middle of a read: real processes, real signals. */
class PeerProcessTest {
  private static final long BYTES = 64L << 20;

  @Test
  void shouldEndWhenTheSourceIsKilled() throws Exception {
    try (Arena arena = Arena.ofShared();
        PeerProcess source = PeerProcess.start("source", "" + BYTES);
        TcpTransferEngine reader = engine(TcpOptions.Preference.AUTO, arena.allocate(64))) {
      PeerProcess.Peer peer = source.peer();
      RangeRead range = range(arena);
      warmUp(reader, peer, arena);
      TransferRead read = begin(reader, peer, range, Duration.ofSeconds(20));
      awaitFirstByte(range.destination());
      source.kill();
      long from = System.nanoTime();
      assertInstanceOf(TransferFailure.PeerLost.class, read.outcome().get(20, TimeUnit.SECONDS));
      read.released().get(1, TimeUnit.SECONDS);
      assertTrue(System.nanoTime() - from < Duration.ofSeconds(5).toNanos(), "within its deadline");
      TransferRead next = begin(reader, peer, range, Duration.ofSeconds(5));
      assertInstanceOf(TransferFailure.Unreachable.class, next.outcome().get(5, TimeUnit.SECONDS));
      next.released().get(5, TimeUnit.SECONDS);
      assertEquals(0, reader.stats().bytesInFlight());
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = TcpOptions.Preference.class,
      names = {"AUTO", "EPOLL", "NIO"})
  void shouldLetNoLateByteLandWhenTheSourceStopsAndGoesOn(TcpOptions.Preference preference)
      throws Exception {
    try (Arena arena = Arena.ofShared();
        PeerProcess source = PeerProcess.start("source", "" + BYTES);
        TcpTransferEngine reader = engine(preference, arena.allocate(64))) {
      PeerProcess.Peer peer = source.peer();
      RangeRead range = range(arena);
      warmUp(reader, peer, arena);
      TransferRead read = begin(reader, peer, range, Duration.ofMillis(400));
      awaitFirstByte(range.destination());
      source.signal("STOP");
      assertInstanceOf(
          TransferFailure.DeadlinePassed.class, read.outcome().get(2, TimeUnit.SECONDS));
      read.released().get(2, TimeUnit.SECONDS);
      range.destination().fill((byte) 0x5a);
      source.signal("CONT");
      RangeRead again = range(arena);
      assertInstanceOf(
          Receipt.class,
          begin(reader, peer, again, Duration.ofSeconds(20)).outcome().get(20, TimeUnit.SECONDS));
      assertEquals(-1, Pattern.mismatch(again.destination(), again.source()));
      MemorySegment expected = arena.allocate(BYTES);
      expected.fill((byte) 0x5a);
      assertEquals(-1, expected.mismatch(range.destination()), "a byte came late");
    }
  }

  @Test
  void shouldDrainGrantsOfAReaderThatIsKilledOrStopped() throws Exception {
    TcpOptions.Patience brief =
        new TcpOptions.Patience(
            Duration.ofSeconds(5), Duration.ofSeconds(1), Duration.ofSeconds(30));
    try (Arena arena = Arena.ofShared();
        TcpTransferEngine source =
            TcpTransferEngine.start(
                TcpTransferContract.options().with(brief), Pattern.pool(arena, BYTES))) {
      for (String signal : List.of("KILL", "STOP")) {
        Grant grant =
            source
                .grants()
                .open(List.of(new PoolRange(0, BYTES)), Duration.ofMinutes(1))
                .orElseThrow();
        try (PeerProcess reader = startReader(source, grant)) {
          assertEquals("reading", reader.line());
          awaitInFlight(source);
          reader.signal(signal);
          CompletableFuture<DrainProof> drained = source.grants().revoke(grant.id());
          DrainProof proof = drained.get(10, TimeUnit.SECONDS);
          assertEquals(grant.id(), proof.grant());
          assertEquals(0, source.grants().readsInFlight());
        }
      }
      assertEquals(0, source.grants().size());
    }
  }

  private static PeerProcess startReader(TcpTransferEngine source, Grant grant) throws IOException {
    return PeerProcess.start(
        "reader",
        "" + source.endpoint().port(),
        "" + source.endpoint().runtime(),
        "" + grant.id(),
        "" + grant.secret().high(),
        "" + grant.secret().low(),
        "" + BYTES);
  }

  private static void awaitInFlight(TcpTransferEngine source) throws InterruptedException {
    long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
    while (source.grants().readsInFlight() == 0) {
      assertTrue(System.nanoTime() < end, "nothing is read");
      Thread.sleep(0, 100_000);
    }
  }

  private static void awaitFirstByte(MemorySegment destination) {
    long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
    while (destination.get(JAVA_BYTE, 0) == 0 || destination.get(JAVA_BYTE, 64 << 10) == 0) {
      assertTrue(System.nanoTime() < end, "nothing comes");
      Thread.onSpinWait();
    }
  }

  /** So that the connection is there when the read begins. */
  private static void warmUp(TcpTransferEngine reader, PeerProcess.Peer peer, Arena arena) {
    PoolRange little = new PoolRange(0, 2 << 20);
    begin(reader, peer, new RangeRead(little, arena.allocate(2 << 20)), Duration.ofSeconds(20))
        .released()
        .join();
  }

  private static TransferRead begin(
      TcpTransferEngine reader, PeerProcess.Peer peer, RangeRead range, Duration deadline) {
    return reader.read(peer.endpoint(), peer.grant(), List.of(range), RangeVerifier.NONE, deadline);
  }

  private static RangeRead range(Arena arena) {
    return new RangeRead(new PoolRange(0, BYTES), arena.allocate(BYTES, 4096));
  }

  private static TcpTransferEngine engine(TcpOptions.Preference preference, MemorySegment pool)
      throws IOException {
    return TcpTransferEngine.start(TcpTransferContract.options().with(preference), pool);
  }
}
