package io.orbitkv.transfer.tcp;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.UUID;

/**
 * How the built-in engine is set up.
 *
 * @param bind where it listens; port 0 takes a free one
 * @param advertisedHost how peers reach it
 * @param runtime this run of the daemon
 * @param token what all hosts share
 * @param transport which of the kernel's interfaces to use
 * @param eventLoops threads that move bytes, at least 1
 * @param flow how much at a time
 * @param patience how long
 */
public record TcpOptions(
    InetSocketAddress bind,
    String advertisedHost,
    UUID runtime,
    TransferToken token,
    Preference transport,
    int eventLoops,
    Flow flow,
    Patience patience) {
  public TcpOptions {
    if (eventLoops < 1) {
      throw new IllegalArgumentException("no event loop");
    }
  }

  /** What is in use where nothing else was asked for. */
  public static TcpOptions of(InetSocketAddress bind, UUID runtime, TransferToken token) {
    return new TcpOptions(
        bind,
        bind.getHostString(),
        runtime,
        token,
        Preference.AUTO,
        eventLoopsFor(Runtime.getRuntime().availableProcessors()),
        Flow.DEFAULT,
        Patience.DEFAULT);
  }

  /** Half of the processors, 1 to 4: the other half belongs to whoever uses the bytes. */
  public static int eventLoopsFor(int processors) {
    return Math.clamp(processors / 2, 1, 4);
  }

  public TcpOptions with(Preference other) {
    return new TcpOptions(bind, advertisedHost, runtime, token, other, eventLoops, flow, patience);
  }

  public TcpOptions with(Flow other) {
    return new TcpOptions(
        bind, advertisedHost, runtime, token, transport, eventLoops, other, patience);
  }

  public TcpOptions with(Patience other) {
    return new TcpOptions(bind, advertisedHost, runtime, token, transport, eventLoops, flow, other);
  }

  /** With another number of threads. */
  public TcpOptions withEventLoops(int count) {
    return new TcpOptions(bind, advertisedHost, runtime, token, transport, count, flow, patience);
  }

  /** Which of the kernel's interfaces to use. */
  public enum Preference {
    /** io_uring, else epoll, else NIO. */
    AUTO,
    IO_URING,
    EPOLL,
    NIO
  }

  /**
   * How much at a time.
   *
   * @param stripes connections to each peer
   * @param minPieceBytes a read of more is spread over several connections
   * @param maxPieceBytes the most that is asked for in one request
   * @param maxReadBytes destination bytes of all reads that are not released, of this engine
   * @param connectionBytes bytes that a peer may have asked for and not been sent, per connection
   * @param connectionRequests requests likewise
   * @param maxConnections connections of peers
   */
  public record Flow(
      int stripes,
      int minPieceBytes,
      int maxPieceBytes,
      long maxReadBytes,
      long connectionBytes,
      int connectionRequests,
      int maxConnections) {
    public static final Flow DEFAULT =
        new Flow(2, 512 << 10, 4 << 20, 1L << 30, 64L << 20, 256, 1024);

    public Flow {
      if (stripes < 1
          || minPieceBytes < 1
          || maxPieceBytes < minPieceBytes
          || connectionBytes < maxPieceBytes
          || connectionRequests < 1
          || maxConnections < 1
          || maxReadBytes < 1) {
        throw new IllegalArgumentException("bounds that admit nothing");
      }
    }

    /** With another number of connections to each peer. */
    public Flow withStripes(int count) {
      return new Flow(
          count,
          minPieceBytes,
          maxPieceBytes,
          maxReadBytes,
          connectionBytes,
          connectionRequests,
          maxConnections);
    }
  }

  /**
   * How long.
   *
   * @param hello until two peers know each other
   * @param progress without a byte while bytes are due, until a connection is closed
   * @param idle without a request, until a reader closes its connection; a source waits four times
   *     as long
   */
  public record Patience(Duration hello, Duration progress, Duration idle) {
    public static final Patience DEFAULT =
        new Patience(Duration.ofSeconds(5), Duration.ofSeconds(10), Duration.ofMinutes(2));
  }
}
