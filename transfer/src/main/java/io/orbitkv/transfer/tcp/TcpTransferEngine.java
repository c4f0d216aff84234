package io.orbitkv.transfer.tcp;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.orbitkv.transfer.Grant;
import io.orbitkv.transfer.GrantTable;
import io.orbitkv.transfer.PeerEndpoint;
import io.orbitkv.transfer.RangeRead;
import io.orbitkv.transfer.RangeVerifier;
import io.orbitkv.transfer.TransferEngine;
import io.orbitkv.transfer.TransferFailure;
import io.orbitkv.transfer.TransferRead;
import io.orbitkv.transfer.TransferStats;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The built-in engine: the protocol of {@link Wire} over TCP. The kernel copies from the source's
 * pool to the socket and from the socket to the destination; no byte of a large payload is copied
 * between them by us.
 */
public final class TcpTransferEngine implements TransferEngine {
  private static final Logger LOG = LoggerFactory.getLogger(TcpTransferEngine.class);
  private static final int MAX_GRANTS = 65_536;
  private static final int MAX_TRIES = 4;

  private final TcpOptions options;
  private final Transport transport;
  private final EventLoopGroup group;
  private final Counters counters = new Counters();
  private final SecureRandom random = new SecureRandom();
  private final GrantTable grants;
  private final PeerLinks links;
  private final Set<ReadOperation> reads = ConcurrentHashMap.newKeySet();
  private final Set<PeerConnection> connections = ConcurrentHashMap.newKeySet();
  private final Set<Channel> accepted = ConcurrentHashMap.newKeySet();
  private final Channel listener;
  private final PeerEndpoint endpoint;
  private volatile boolean closed;

  private TcpTransferEngine(TcpOptions options, MemorySegment pool) throws IOException {
    this.options = options;
    this.transport = Transport.choose(options.transport());
    this.group = transport.group(options.eventLoops());
    this.grants =
        new GrantTable(options.runtime(), pool.byteSize(), MAX_GRANTS, System::nanoTime, random);
    this.links = new PeerLinks(options.flow().stripes(), this::connect);
    this.listener = listen(new SourceSide(options, pool, grants, random, counters));
    InetSocketAddress bound = (InetSocketAddress) listener.localAddress();
    this.endpoint = new PeerEndpoint(options.advertisedHost(), bound.getPort(), options.runtime());
  }

  /**
   * Starts an engine.
   *
   * @param pool native memory that grants refer to; it must outlive the engine
   * @throws IOException if it cannot listen
   */
  public static TcpTransferEngine start(TcpOptions options, MemorySegment pool) throws IOException {
    return new TcpTransferEngine(options, pool);
  }

  /** What it would use here without a choice, and why, for {@code doctor}. */
  public static Carrier automatic() {
    Transport chosen = Transport.choose(TcpOptions.Preference.AUTO);
    return new Carrier("tcp/" + chosen.name(), chosen.reason());
  }

  @Override
  public Carrier carrier() {
    return new Carrier("tcp/" + transport.name(), transport.reason());
  }

  @Override
  public PeerEndpoint endpoint() {
    return endpoint;
  }

  @Override
  public GrantTable grants() {
    return grants;
  }

  @Override
  public TransferStats stats() {
    return counters.snapshot(grants);
  }

  @Override
  public TransferRead read(
      PeerEndpoint source,
      Grant grant,
      List<RangeRead> ranges,
      RangeVerifier verifier,
      Duration deadline) {
    if (ranges.isEmpty() || deadline.isNegative() || deadline.isZero()) {
      throw new IllegalArgumentException("a read has ranges and a deadline");
    }
    counters.readsBegun.increment();
    ReadOperation read = new ReadOperation(this, grant, ranges, verifier, options.flow());
    if (counters.bytesInFlight.addAndGet(read.bytes()) > options.flow().maxReadBytes()) {
      counters.bytesInFlight.addAndGet(-read.bytes());
      return read.refuse(
          new TransferFailure.Overloaded(
              "reads of " + options.flow().maxReadBytes() + " bytes are under way"));
    }
    reads.add(read);
    if (closed) {
      reads.remove(read);
      counters.bytesInFlight.addAndGet(-read.bytes());
      return read.refuse(new TransferFailure.Closed());
    }
    PeerLinks.Stripes stripes = links.to(source);
    read.begin(stripes, stripes.next(), deadline);
    return read;
  }

  @Override
  public void close() {
    closed = true;
    listener.close().awaitUninterruptibly();
    // While the loops still run: one that is shutting down may leave a late registration open.
    accepted.forEach(each -> each.close().awaitUninterruptibly());
    reads.forEach(each -> each.give(new TransferFailure.Closed()));
    connections.forEach(each -> each.closeNow(new TransferFailure.Closed()));
    group.shutdownGracefully(0, 30, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  TcpOptions options() {
    return options;
  }

  Counters counters() {
    return counters;
  }

  int maxTries() {
    return MAX_TRIES;
  }

  Bits256 nonce() {
    return Bits256.random(random);
  }

  void submitAgain(Piece piece, PeerEndpoint peer) {
    if (closed) {
      piece.failed(new TransferFailure.Closed());
      return;
    }
    PeerLinks.Stripes stripes = links.to(peer);
    piece.submit(stripes.connection(stripes.next()));
  }

  void forget(ReadOperation read) {
    reads.remove(read);
    counters.bytesInFlight.addAndGet(-read.bytes());
  }

  /** A connection to a peer is no more. */
  void gone(PeerConnection connection) {
    if (connections.remove(connection)) {
      counters.outboundConnections.decrementAndGet();
    }
  }

  void verifierThrew(RuntimeException thrown) {
    LOG.error("a verifier threw; the range counts as corrupt", thrown);
  }

  private PeerConnection connect(PeerLinks.Stripes stripes) {
    EventLoop loop = group.next();
    PeerConnection connection = new PeerConnection(this, stripes, loop);
    connections.add(connection);
    counters.outboundConnections.incrementAndGet();
    ChannelFuture connecting =
        new Bootstrap()
            .group(loop)
            .channel(transport.socket())
            .option(ChannelOption.TCP_NODELAY, true)
            .option(
                ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) options.patience().hello().toMillis())
            .option(ChannelOption.RECVBUF_ALLOCATOR, new PlacingAllocator(connection))
            .handler(connection)
            .connect(stripes.peer().host(), stripes.peer().port());
    connecting.addListener(done -> connection.connected(connecting.channel(), done.cause()));
    return connection;
  }

  private Channel listen(SourceSide source) throws IOException {
    ChannelFuture bound =
        new ServerBootstrap()
            .group(group)
            .channel(transport.listener())
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel made) {
                    accept(made, source);
                  }
                })
            .bind(options.bind())
            .awaitUninterruptibly();
    if (bound.isSuccess()) {
      return bound.channel();
    }
    var _ = group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    throw new IOException("cannot listen on " + options.bind(), bound.cause());
  }

  private void accept(SocketChannel made, SourceSide source) {
    int open = counters.inboundConnections.incrementAndGet();
    accepted.add(made);
    made.closeFuture()
        .addListener(
            done -> {
              accepted.remove(made);
              counters.inboundConnections.decrementAndGet();
            });
    if (closed || open > 2 * options.flow().maxConnections()) {
      var _ = made.close();
      return;
    }
    made.pipeline().addLast(new SourceConnection(source));
  }
}
