package io.orbitkv.manager.endpoint;

import io.orbitkv.client.control.Closing;
import io.orbitkv.client.control.FrameRead;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.ffi.Epoll;
import io.orbitkv.ffi.EpollEvents;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.PeerCredentials;
import io.orbitkv.ffi.UnixListener;
import io.orbitkv.ffi.UnixSocket;
import io.orbitkv.manager.metrics.ChannelMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.agrona.collections.Long2ObjectHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control socket: one thread accepts, checks who connects, assembles frames and sends answers,
 * and never waits for one peer. Frames go to {@link ControlRequests}.
 *
 * <p>Bounds: connections by number; frames by their header's size and by {@value
 * #MAX_FRAMES_ARRIVING} at a time; a peer that does not say HELLO, does not finish a frame or does
 * not take its answer in time is dropped.
 */
public final class ControlServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ControlServer.class);

  /** What accepting fails with while the host or the process lacks something. */
  private static final Set<String> SCARCE = Set.of("EMFILE", "ENFILE", "ENOMEM", "ENOBUFS");

  private static final long LISTENER = 0;
  private static final long OUTBOX = 1;
  private static final long FIRST_CONNECTION = 2;
  private static final int BACKLOG = 128;
  private static final int MAX_FRAMES_ARRIVING = 64;
  private static final int FRAMES_AT_ONCE = 16;
  private static final int ACCEPTS_AT_ONCE = 64;
  private static final long TICK_NANOS = 250_000_000;
  private static final long ACCEPT_PAUSE_NANOS = 200_000_000;
  private static final long SCARCE_LOG_NANOS = 10_000_000_000L;
  private static final int REFUSE_WHEN_FULL = 64;

  private final EndpointOptions options;
  private final UnixListener listener;
  private final Epoll epoll;
  private final Outbox outbox;
  private final ControlRequests requests;
  private final ChannelMetrics metrics;
  private final Consumer<Throwable> fatal;
  private final PeerPolicy policy;
  private final Long2ObjectHashMap<ControlConnection> connections = new Long2ObjectHashMap<>();
  private final Thread thread;
  private final long timeoutNanos;

  private long nextId = FIRST_CONNECTION;
  private int framesArriving;
  private boolean listening;
  private long acceptAgainNanos;
  private long saidScarceNanos = System.nanoTime() - SCARCE_LOG_NANOS;
  private volatile boolean stopping;

  ControlServer(
      EndpointOptions options,
      UnixListener listener,
      Outbox outbox,
      ControlRequests requests,
      ChannelMetrics metrics,
      Consumer<Throwable> fatal)
      throws NativeException {
    this.options = options;
    this.listener = listener;
    this.outbox = outbox;
    this.requests = requests;
    this.metrics = metrics;
    this.fatal = fatal;
    this.policy = new PeerPolicy(options);
    this.timeoutNanos = Duration.ofMillis(options.limits().helloTimeoutMillis()).toNanos();
    this.epoll = Epoll.create();
    epoll.add(outbox.descriptor(), Epoll.IN, OUTBOX);
    this.thread = Thread.ofPlatform().name("orbitkv-control").unstarted(this::run);
    requests.serve(this);
  }

  /** Binds the socket; whoever sees its path can connect. */
  static UnixListener listen(EndpointOptions options) throws NativeException {
    return UnixListener.listen(options.socketPath(), options.socketMode(), BACKLOG);
  }

  void start() throws NativeException {
    listen(true);
    thread.start();
  }

  /**
   * Tells every peer that the daemon stops, gives them a moment to take it, and ends the thread.
   */
  @Override
  public void close() {
    stopping = true;
    outbox.wakeUp();
    try {
      if (thread.isAlive() && !thread.join(Duration.ofSeconds(2))) {
        LOG.warn("the control thread did not end within 2 s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    listener.close();
  }

  // ---- the thread ------------------------------------------------------------------------------

  private void run() {
    try {
      EpollEvents events = new EpollEvents(256);
      while (!stopping) {
        epoll.await(events, Math.min(TICK_NANOS, timeoutNanos));
        for (int i = 0; i < events.count(); i++) {
          dispatch(events.data(i), events.events(i));
        }
        requests.retry();
        expire(System.nanoTime());
      }
      sayGoodbye();
    } catch (NativeException | RuntimeException | Error broken) {
      LOG.error("the control socket broke: no session could be opened or closed any more", broken);
      fatal.accept(broken);
    } finally {
      List.copyOf(connections.values()).forEach(ControlConnection::close);
      epoll.close();
    }
  }

  private void dispatch(long data, int events) throws NativeException {
    if (data == LISTENER) {
      acceptAll();
    } else if (data == OUTBOX) {
      outbox.run();
    } else {
      ControlConnection connection = connections.get(data);
      if (connection != null) {
        serve(connection, events);
      }
    }
  }

  private void acceptAll() throws NativeException {
    for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
      Optional<UnixSocket> accepted;
      try {
        accepted = listener.accept();
      } catch (NativeException failed) {
        if (!SCARCE.contains(failed.errno().symbol())) {
          throw failed;
        }
        if (System.nanoTime() - saidScarceNanos > SCARCE_LOG_NANOS) {
          saidScarceNanos = System.nanoTime();
          LOG.warn(
              "connections have to wait: {}; raise the limit of open files (ulimit -n; LimitNOFILE)",
              failed.getMessage());
        }
        listen(false);
        acceptAgainNanos = System.nanoTime() + ACCEPT_PAUSE_NANOS;
        return;
      }
      if (accepted.isEmpty()) {
        return;
      }
      admit(accepted.get());
    }
  }

  private void admit(UnixSocket socket) throws NativeException {
    metrics.connected();
    if (connections.size() >= options.maxConnections() + REFUSE_WHEN_FULL) {
      socket.close();
      return;
    }
    PeerCredentials peer = socket.peerCredentials();
    ControlConnection connection =
        new ControlConnection(nextId++, socket, peer, System.nanoTime() + timeoutNanos);
    connections.put(connection.id, connection);
    connection.watched = Epoll.IN | Epoll.RDHUP;
    epoll.add(socket.descriptor(), connection.watched, connection.id);
    if (!policy.allows(peer)) {
      turnAway(
          connection,
          Refusal.of(
              RefusalCode.PEER_NOT_ALLOWED,
              "user %d, group %d is not served".formatted(peer.uid(), peer.gid())));
    } else if (connections.size() > options.maxConnections()) {
      turnAway(
          connection,
          Refusal.of(
                  RefusalCode.TOO_MANY_SESSIONS, options.maxConnections() + " connections are open")
              .withRetry(1_000));
    }
  }

  private void turnAway(ControlConnection connection, Refusal refusal) throws NativeException {
    act(connection, () -> refuse(connection, refusal, 0, true));
  }

  // ---- one connection --------------------------------------------------------------------------

  /** Something that writes to a connection. */
  interface Action {
    void run() throws NativeException;
  }

  /** Runs an action on a connection, and drops the connection if its peer is gone. */
  void act(ControlConnection connection, Action action) {
    if (connection.closed()) {
      return;
    }
    try {
      action.run();
      settle(connection);
    } catch (NativeException gone) {
      drop(connection);
    }
  }

  void refuse(ControlConnection connection, Refusal refusal, long correlationId, boolean closing)
      throws NativeException {
    metrics.controlRefused(refusal.category());
    connection.refuse(refusal, correlationId, closing);
  }

  private void serve(ControlConnection connection, int events) {
    if ((events & (Epoll.ERR | Epoll.HUP)) != 0
        || ((events & Epoll.RDHUP) != 0 && (connection.pending != null || connection.closing()))) {
      drop(connection);
      return;
    }
    act(
        connection,
        () -> {
          if ((events & (Epoll.IN | Epoll.RDHUP)) != 0) {
            read(connection);
          }
        });
  }

  private void read(ControlConnection connection) throws NativeException {
    for (int i = 0; i < FRAMES_AT_ONCE && mayRead(connection); i++) {
      boolean before = connection.reader.insideFrame();
      FrameRead read = connection.reader.read();
      boolean after = connection.reader.insideFrame();
      framesArriving += (after ? 1 : 0) - (before ? 1 : 0);
      if (after && !before) {
        connection.deadlineNanos = System.nanoTime() + timeoutNanos;
      }
      switch (read) {
        case FrameRead.Incomplete _ -> {
          return;
        }
        case FrameRead.Ended _ -> {
          drop(connection);
          return;
        }
        case FrameRead.Broken(Refusal refusal, long correlationId, boolean answerable) -> {
          if (answerable) {
            refuse(connection, refusal, correlationId, true);
          } else {
            drop(connection);
          }
          return;
        }
        case FrameRead.Complete(var frame) -> {
          connection.deadlineNanos = connection.greeted ? Long.MAX_VALUE : connection.deadlineNanos;
          requests.handle(connection, frame);
        }
      }
    }
  }

  private boolean mayRead(ControlConnection connection) {
    return !connection.closing()
        && connection.pending == null
        && !connection.sending()
        && (connection.reader.insideFrame() || framesArriving < MAX_FRAMES_ARRIVING);
  }

  /** Sends what fits, closes what is done, and watches for what can happen next. */
  private void settle(ControlConnection connection) throws NativeException {
    if (connection.closed()) {
      return;
    }
    boolean wasSending = connection.sending();
    if (connection.flush()) {
      drop(connection);
      return;
    }
    if (connection.sending() && (!wasSending || connection.deadlineNanos == Long.MAX_VALUE)) {
      connection.deadlineNanos = System.nanoTime() + timeoutNanos;
    } else if (wasSending && !connection.sending() && connection.greeted) {
      connection.deadlineNanos = Long.MAX_VALUE;
    }
    int wanted =
        Epoll.RDHUP | (connection.sending() ? Epoll.OUT : 0) | (mayRead(connection) ? Epoll.IN : 0);
    if (wanted != connection.watched) {
      connection.watched = wanted;
      epoll.modify(connection.socket.descriptor(), wanted, connection.id);
    }
  }

  /** Closes a connection and what hangs on it. */
  void drop(ControlConnection connection) {
    if (connection.closed()) {
      return;
    }
    if (connection.reader.insideFrame()) {
      framesArriving--;
    }
    try {
      epoll.remove(connection.socket.descriptor());
    } catch (NativeException gone) {
      LOG.warn("connection {} was not watched: {}", connection.id, gone.getMessage());
    }
    connections.remove(connection.id);
    connection.close();
    requests.connectionClosed(connection);
  }

  // ---- time ------------------------------------------------------------------------------------

  private void expire(long now) throws NativeException {
    if (!listening && now - acceptAgainNanos >= 0) {
      listen(true);
    }
    List<ControlConnection> late = new ArrayList<>();
    for (ControlConnection connection : connections.values()) {
      if (connection.deadlineNanos != Long.MAX_VALUE && now - connection.deadlineNanos >= 0) {
        late.add(connection);
      }
    }
    late.forEach(this::drop);
    // Those that could not begin a frame while too many arrived may now.
    if (framesArriving < MAX_FRAMES_ARRIVING) {
      for (ControlConnection connection : connections.values()) {
        if ((connection.watched & Epoll.IN) == 0 && mayRead(connection)) {
          connection.watched |= Epoll.IN;
          epoll.modify(connection.socket.descriptor(), connection.watched, connection.id);
        }
      }
    }
  }

  private void listen(boolean on) throws NativeException {
    if (on) {
      epoll.add(listener.descriptor(), Epoll.IN, LISTENER);
    } else {
      epoll.remove(listener.descriptor());
    }
    listening = on;
  }

  private void sayGoodbye() throws NativeException {
    if (listening) {
      listen(false);
    }
    outbox.run();
    Closing notice = Closing.of(Closing.Reason.SHUTDOWN, "the daemon stops");
    for (ControlConnection connection : List.copyOf(connections.values())) {
      act(connection, () -> connection.closeWith(notice));
    }
    long deadline = System.nanoTime() + ACCEPT_PAUSE_NANOS;
    EpollEvents events = new EpollEvents(256);
    while (!connections.isEmpty() && System.nanoTime() - deadline < 0) {
      epoll.await(events, Math.max(0, deadline - System.nanoTime()));
      for (int i = 0; i < events.count(); i++) {
        if (events.data(i) >= FIRST_CONNECTION) {
          dispatch(events.data(i), events.events(i));
        }
      }
    }
  }
}
