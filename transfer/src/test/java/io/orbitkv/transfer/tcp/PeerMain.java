package io.orbitkv.transfer.tcp;

import io.orbitkv.transfer.Grant;
import io.orbitkv.transfer.Pattern;
import io.orbitkv.transfer.PeerEndpoint;
import io.orbitkv.transfer.PoolRange;
import io.orbitkv.transfer.RangeRead;
import io.orbitkv.transfer.RangeVerifier;
import io.orbitkv.transfer.Secret;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** The other process of {@link PeerProcessTest}. */
final class PeerMain {
  private PeerMain() {}

  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "source" -> source(Long.parseLong(arguments[1]));
      case "reader" -> reader(arguments);
      default -> throw new IllegalArgumentException(arguments[0]);
    }
  }

  private static void source(long poolBytes) throws Exception {
    try (Arena arena = Arena.ofShared();
        TcpTransferEngine engine =
            TcpTransferEngine.start(
                TcpTransferContract.options(), Pattern.pool(arena, poolBytes))) {
      Grant grant =
          engine
              .grants()
              .open(List.of(new PoolRange(0, poolBytes)), Duration.ofMinutes(5))
              .orElseThrow();
      System.out.printf(
          "%d %s %s %d %d %d%n",
          engine.endpoint().port(),
          grant.runtime(),
          grant.id(),
          grant.secret().high(),
          grant.secret().low(),
          poolBytes);
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      while (in.readLine() != null) {
        System.out.println(engine.grants().readsInFlight());
      }
    }
  }

  /** Reads the same megabytes over and over, until it is killed. */
  private static void reader(String[] words) throws Exception {
    PeerEndpoint source =
        new PeerEndpoint("127.0.0.1", Integer.parseInt(words[1]), UUID.fromString(words[2]));
    PoolRange range = new PoolRange(0, Long.parseLong(words[6]));
    Grant grant =
        new Grant(
            UUID.fromString(words[3]),
            new Secret(Long.parseLong(words[4]), Long.parseLong(words[5])),
            source.runtime(),
            List.of(range),
            Duration.ofMinutes(1));
    try (Arena arena = Arena.ofShared();
        TcpTransferEngine engine =
            TcpTransferEngine.start(TcpTransferContract.options(), arena.allocate(64))) {
      MemorySegment destination = arena.allocate(range.length());
      for (int i = 0; i >= 0; i++) {
        engine
            .read(
                source,
                grant,
                List.of(new RangeRead(range, destination)),
                RangeVerifier.NONE,
                Duration.ofSeconds(30))
            .released()
            .join();
        if (i == 0) {
          System.out.println("reading");
        }
      }
    }
  }
}
