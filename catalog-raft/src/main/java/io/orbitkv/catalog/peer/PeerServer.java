package io.orbitkv.catalog.peer;

import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.orbitkv.catalog.peer.PeerSecurity.TlsFiles;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** Listens for peers. */
public final class PeerServer implements AutoCloseable {
  private static final int CALLS_PER_CONNECTION = 1024;
  private static final int MAX_METADATA_BYTES = 8192;

  private final Server server;

  private PeerServer(Server server) {
    this.server = server;
  }

  /**
   * Begins to listen.
   *
   * @param address where; port 0 takes a free one
   * @throws IOException when the address is taken or a file of {@code security} cannot be read
   */
  public static PeerServer start(
      InetSocketAddress address,
      PeerSecurity security,
      PeerLimits limits,
      PeerHandlers handlers,
      PeerStats stats,
      PeerThreads threads)
      throws IOException {
    Server server =
        NettyServerBuilder.forAddress(address, credentials(security))
            .bossEventLoopGroup(threads.loops)
            .workerEventLoopGroup(threads.loops)
            .channelType(NioServerSocketChannel.class)
            .executor(threads.handlers)
            .maxInboundMessageSize(limits.maxMessageBytes())
            .maxInboundMetadataSize(MAX_METADATA_BYTES)
            .maxConcurrentCallsPerConnection(CALLS_PER_CONNECTION)
            .keepAliveTime(PeerClient.KEEPALIVE_SECONDS, TimeUnit.SECONDS)
            .keepAliveTimeout(PeerClient.KEEPALIVE_TIMEOUT_SECONDS, TimeUnit.SECONDS)
            .permitKeepAliveTime(PeerClient.KEEPALIVE_SECONDS / 2, TimeUnit.SECONDS)
            .permitKeepAliveWithoutCalls(true)
            .addService(new PeerService(handlers, limits, stats))
            .intercept(new PeerAuth(security, stats))
            .build()
            .start();
    return new PeerServer(server);
  }

  private static ServerCredentials credentials(PeerSecurity security) throws IOException {
    if (security.tls().isEmpty()) {
      return InsecureServerCredentials.create();
    }
    TlsFiles files = security.tls().get();
    return TlsServerCredentials.newBuilder()
        .keyManager(files.certificate().toFile(), files.privateKey().toFile())
        .trustManager(files.authority().toFile())
        // Optional in the handshake, so that who has none is told so: PeerAuth requires it.
        .clientAuth(TlsServerCredentials.ClientAuth.OPTIONAL)
        .build();
  }

  /** The port that it listens on. */
  public int port() {
    return server.getPort();
  }

  /** Stops listening and ends what is under way, within a second. */
  @Override
  public void close() {
    server.shutdownNow();
    try {
      server.awaitTermination(1, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
