package io.orbitkv.manager.cluster;

import io.orbitkv.catalog.membership.MemberSnapshot;
import io.orbitkv.catalog.membership.TransferCarrier;
import io.orbitkv.ffi.Probe;
import io.orbitkv.manager.StartFailure;
import io.orbitkv.manager.config.ClusterConfig;
import io.orbitkv.transfer.PeerEndpoint;
import io.orbitkv.transfer.TransferEngine;
import io.orbitkv.transfer.mooncake.MooncakeException;
import io.orbitkv.transfer.mooncake.MooncakeLibrary;
import io.orbitkv.transfer.mooncake.MooncakeTransferEngine;
import io.orbitkv.transfer.tcp.TcpOptions;
import io.orbitkv.transfer.tcp.TcpTransferEngine;
import io.orbitkv.transfer.tcp.TransferToken;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Chooses what moves blocks between hosts, and starts it on the pool. */
final class Transfers {
  private static final Logger LOG = LoggerFactory.getLogger(Transfers.class);
  private static final String MOONCAKE = "mooncake";

  private final ClusterConfig config;
  private final UUID runtime;
  private final TransferToken token;
  private final MemorySegment pool;
  private final Supplier<MemberSnapshot> members;

  /**
   * @param members the hosts that are known
   */
  Transfers(
      ClusterConfig config,
      UUID runtime,
      TransferToken token,
      MemorySegment pool,
      Supplier<MemberSnapshot> members) {
    this.config = config;
    this.runtime = runtime;
    this.token = token;
    this.pool = pool;
    this.members = members;
  }

  /** What others must know of the engine, beside where it is. */
  static TransferCarrier carrier(TransferEngine engine, MemorySegment pool) {
    return engine.carrier().name().equals(MOONCAKE)
        ? new TransferCarrier(MOONCAKE, pool.address())
        : TransferCarrier.TCP;
  }

  TransferEngine start() throws StartFailure {
    return switch (config.engine()) {
      case TCP -> tcp();
      case MOONCAKE -> {
        Probe probe = probe();
        if (!probe.present()) {
          throw new StartFailure("--transfer-engine mooncake: " + probe.detail(), probe.remedy());
        }
        yield mooncake(probe);
      }
      case AUTO -> {
        Probe probe = probe();
        if (!probe.present()) {
          if (config.mooncakeLibrary().isPresent()) {
            LOG.warn("transfer: no Mooncake: {}; {}", probe.detail(), probe.remedy());
          }
          yield tcp();
        }
        try {
          yield mooncake(probe);
        } catch (StartFailure refused) {
          LOG.warn("transfer: {}; the built-in engine is used", refused.getMessage());
          yield tcp();
        }
      }
    };
  }

  private Probe probe() {
    return config
        .mooncakeLibrary()
        .map(MooncakeLibrary::probe)
        .orElseGet(() -> MooncakeLibrary.discover(System.getenv()));
  }

  private TransferEngine tcp() throws StartFailure {
    InetSocketAddress address = config.transfer();
    try {
      return TcpTransferEngine.start(TcpOptions.of(address, runtime, token), pool);
    } catch (IOException refused) {
      throw new StartFailure(
          "blocks cannot be served at %s:%d: %s"
              .formatted(address.getHostString(), address.getPort(), refused.getMessage()),
          "choose another --transfer-addr, an address of this host, port 0 for any",
          refused);
    }
  }

  /**
   * @param found where the library is
   */
  private TransferEngine mooncake(Probe found) throws StartFailure {
    Path library = config.mooncakeLibrary().orElseGet(() -> Path.of(found.detail()));
    try {
      return MooncakeTransferEngine.start(
          MooncakeLibrary.load(library),
          new MooncakeTransferEngine.Options(
              config.transfer().getHostString(),
              false,
              runtime,
              MooncakeTransferEngine.Options.VARIABLES,
              this::poolAddress),
          pool);
    } catch (IllegalArgumentException | MooncakeException refused) {
      throw new StartFailure(
          "Mooncake's engine cannot be started: " + refused.getMessage(),
          "choose --transfer-engine tcp",
          refused);
    }
  }

  private long poolAddress(PeerEndpoint source) {
    return members.get().members().values().stream()
        .filter(member -> member.runtime().equals(source.runtime()))
        .findFirst()
        .map(member -> member.carrier().poolAddress())
        .orElse(0L);
  }
}
