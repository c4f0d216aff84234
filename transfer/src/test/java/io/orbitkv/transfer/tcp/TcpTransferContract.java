package io.orbitkv.transfer.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.orbitkv.transfer.Grant;
import io.orbitkv.transfer.PeerEndpoint;
import io.orbitkv.transfer.PoolRange;
import io.orbitkv.transfer.RangeRead;
import io.orbitkv.transfer.Refusal;
import io.orbitkv.transfer.TransferContract;
import io.orbitkv.transfer.TransferEngine;
import io.orbitkv.transfer.TransferFailure;
import io.orbitkv.transfer.TransferRead;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract and the network failures of the built-in engine, over each transport. */
abstract class TcpTransferContract extends TransferContract {
  static final TransferToken TOKEN = token("0123456789abcdef");

  private final TcpOptions.Preference preference;

  TcpTransferContract(TcpOptions.Preference preference) {
    this.preference = preference;
  }

  static TransferToken token(String text) {
    return new TransferToken(text.getBytes(StandardCharsets.UTF_8));
  }

  static TcpOptions options() {
    return TcpOptions.of(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), UUID.randomUUID(), TOKEN);
  }

  @Override
  protected TransferEngine start(MemorySegment pool) throws IOException {
    return TcpTransferEngine.start(options().with(preference), pool);
  }

  @BeforeEach
  void requireTransport() {
    String why = Transport.unavailable(preference);
    if (why != null) {
      System.out.println("skipped: no " + preference + " here: " + why);
    }
    assumeTrue(why == null, () -> preference + " is not available: " + why);
  }

  @Test
  void shouldFailAtItsDeadlineWhenTheSourceIsSilent() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      TransferRead read = readFrom(silent, Duration.ofMillis(200));
      assertInstanceOf(TransferFailure.DeadlinePassed.class, ended(read));
    }
  }

  @Test
  void shouldLetGoOfWhatIsCancelled() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      TransferRead read = readFrom(silent, LONG);
      read.cancel();
      assertTrue(read.outcome().isDone());
      assertEquals(new TransferFailure.Cancelled(), ended(read));
      read.cancel();
    }
  }

  @Test
  void shouldSayThatNobodyListens() throws IOException {
    PeerEndpoint dead;
    try (ServerSocket gone = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      dead = new PeerEndpoint("127.0.0.1", gone.getLocalPort(), UUID.randomUUID());
    }
    PoolRange range = new PoolRange(0, 64);
    assertInstanceOf(
        TransferFailure.Unreachable.class,
        ended(reader.read(dead, grant(range), List.of(into(range)), this::holds, LONG)));
  }

  @Test
  void shouldRefuseAPeerWithoutTheToken() throws IOException {
    TcpOptions stranger =
        TcpOptions.of(options().bind(), UUID.randomUUID(), token("another token of us"));
    PoolRange range = new PoolRange(0, 64);
    try (TransferEngine engine =
        TcpTransferEngine.start(stranger.with(preference), arena.allocate(64))) {
      assertEquals(
          new TransferFailure.Refused(Refusal.WRONG_TOKEN),
          ended(
              engine.read(
                  source.endpoint(), grant(range), List.of(into(range)), this::holds, LONG)));
    }
    assertEquals(1, source.stats().refusals().get(Refusal.WRONG_TOKEN));
  }

  @Test
  void shouldAskAgainForReadsOfAConnectionThatWasGivenUp() {
    PoolRange all = new PoolRange(0, POOL_BYTES);
    Grant grant = grant(all);
    for (int round = 0; round < 8; round++) {
      RangeRead kept = into(all);
      TransferRead victim =
          reader.read(source.endpoint(), grant, List.of(into(all)), this::holds, LONG);
      TransferRead innocent =
          reader.read(source.endpoint(), grant, List.of(kept), this::holds, LONG);
      victim.cancel();
      done(innocent);
      ended(victim);
    }
  }

  @Test
  void shouldRefuseMoreThanItsBudget() throws IOException {
    TcpOptions.Flow flow = new TcpOptions.Flow(1, 1024, 1024, 4096, 1024, 4, 4);
    PoolRange range = new PoolRange(0, 8192);
    try (TransferEngine small =
        TcpTransferEngine.start(options().with(preference).with(flow), arena.allocate(64))) {
      assertInstanceOf(
          TransferFailure.Overloaded.class,
          ended(
              small.read(
                  source.endpoint(), grant(range), List.of(into(range)), this::holds, LONG)));
      PoolRange fits = new PoolRange(0, 4096);
      done(small.read(source.endpoint(), grant(fits), List.of(into(fits)), this::holds, LONG));
    }
  }

  private TransferRead readFrom(ServerSocket silent, Duration deadline) {
    PoolRange range = new PoolRange(0, 1 << 20);
    return reader.read(
        new PeerEndpoint("127.0.0.1", silent.getLocalPort(), UUID.randomUUID()),
        grant(range),
        List.of(into(range)),
        this::holds,
        deadline);
  }
}
