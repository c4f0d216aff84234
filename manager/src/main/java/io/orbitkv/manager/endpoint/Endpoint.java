package io.orbitkv.manager.endpoint;

import io.orbitkv.client.wire.PayloadLimits;
import io.orbitkv.core.Clock;
import io.orbitkv.core.CommandSource;
import io.orbitkv.core.SessionListener;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.UnixListener;
import io.orbitkv.manager.metrics.ChannelMetrics;
import io.orbitkv.state.HostEvent.SessionEnd;
import java.io.UncheckedIOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The process channel's server: what the loop needs of it is there from the start, the socket is
 * bound when the epoch has begun.
 */
public final class Endpoint implements AutoCloseable {
  private static final int QUEUE_CAPACITY = 4_096;

  private final EndpointOptions options;
  private final ChannelMetrics metrics;
  private final Doorbells doorbells;
  private final Outbox outbox;
  private final CommandQueue queue;
  private final ChannelPoller poller;
  private final EpollIdle idle;
  private final SignalGuard guard = new SignalGuard();
  private final Registrations registrations;
  private @Nullable ControlRequests requests;
  private @Nullable ControlServer server;

  /**
   * @param spinNanos how long the loop looks for more requests before it sleeps
   */
  public Endpoint(EndpointOptions options, Clock clock, long spinNanos, ChannelMetrics metrics)
      throws NativeException {
    this.options = options;
    this.metrics = metrics;
    this.doorbells = Doorbells.create();
    // A connection has an answer, a session's end, its buffers and a late answer under way at most.
    this.outbox = new Outbox(Integer.highestOneBit(options.maxConnections()) * 16 + 1_024);
    this.queue = new CommandQueue(QUEUE_CAPACITY, this::wakeLoop);
    this.poller = new ChannelPoller(queue, doorbells, clock, metrics, this::sessionClosed);
    this.idle = new EpollIdle(doorbells, poller, spinNanos);
    PayloadLimits limits =
        new PayloadLimits(options.limits().maxGroups(), options.limits().maxKeysPerRequest());
    this.registrations = new Registrations(poller, limits, outbox::post, guard);
  }

  /** Where the loop takes its commands from. */
  public CommandSource source() {
    return poller;
  }

  /** How the loop rests. */
  public EpollIdle idle() {
    return idle;
  }

  /** Whom the loop tells of ended sessions. */
  public SessionListener listener() {
    return poller;
  }

  /** The way of other threads to the loop. */
  public CommandQueue commands() {
    return queue;
  }

  /** Says who opens the staging rings of engines on a GPU; before {@link #serve}. */
  public void offer(StagedMemory memory) {
    registrations.offer(memory);
  }

  /**
   * Binds the socket and serves it.
   *
   * @param fatal told when the control thread cannot go on
   * @throws NativeException EADDRINUSE if another daemon serves the path; see {@link UnixListener}
   */
  public void serve(long epoch, HealthReport health, Consumer<Throwable> fatal)
      throws NativeException {
    ControlRequests forServer =
        new ControlRequests(options, queue, outbox, poller, registrations, health, epoch);
    requests = forServer;
    guard.start();
    UnixListener listener = ControlServer.listen(options);
    try {
      ControlServer started =
          new ControlServer(options, listener, outbox, forServer, metrics, fatal);
      started.start();
      server = started;
    } catch (NativeException | RuntimeException failed) {
      listener.close();
      throw failed;
    }
  }

  /** Stops the control thread and removes the socket. The loop must have ended. */
  @Override
  public void close() {
    try {
      poller.flush(); // The answers of the loop's last cycle.
    } catch (NativeException broken) {
      throw new UncheckedIOException("the last answers were not signalled", broken);
    }
    if (server != null) {
      server.close();
    }
    guard.close();
    doorbells.close();
    outbox.close();
  }

  private void wakeLoop() {
    idle.wake();
  }

  private void sessionClosed(ChannelSession session, SessionEnd reason, String message) {
    registrations.closed(session.id());
    ControlRequests to = requests;
    if (to == null) {
      throw new IllegalStateException("a session ended before any could begin");
    }
    to.sessionClosed(session, reason, message);
  }
}
