package io.orbitkv.manager.endpoint;

import io.orbitkv.client.wire.PayloadScratch;
import io.orbitkv.core.Clock;
import io.orbitkv.core.Command;
import io.orbitkv.core.CommandSource;
import io.orbitkv.core.SessionListener;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.manager.metrics.ChannelMetrics;
import io.orbitkv.state.HostEvent.SessionEnd;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * The loop's source of commands: the control socket's queue and the submission rings of all
 * sessions. Everything but {@link #lastTrafficNanos} is the loop thread's.
 *
 * <p>A session is <em>hot</em> from its doorbell until a cycle finds its ring empty and the loop
 * goes to sleep; only hot sessions are looked at, so idle ones cost nothing. A busy loop asks for
 * new doorbells every {@value #LOOK_EVERY} cycles. Hot sessions take turns at going first, and each
 * gives at most {@value #PER_SESSION} requests at a time, so that a flood of one delays another by
 * that much.
 */
final class ChannelPoller implements CommandSource, SessionListener, LongConsumer {
  private static final int LOOK_EVERY = 8;
  private static final int PER_SESSION = 4;

  /** Told on the loop thread of sessions whose last answers were written. */
  interface Closed {
    /**
     * A session is over.
     *
     * @param message why, for the client; empty where the reason says it all
     */
    void sessionClosed(ChannelSession session, SessionEnd reason, String message);
  }

  private record Ended(ChannelSession session, SessionEnd reason) {}

  private final CommandQueue queue;
  private final Doorbells doorbells;
  private final Clock clock;
  private final ChannelMetrics metrics;
  private final Closed closed;

  private final Long2ObjectHashMap<ChannelSession> sessions = new Long2ObjectHashMap<>();
  private final List<ChannelSession> hot = new ArrayList<>();
  private final List<ChannelSession> dirty = new ArrayList<>();
  private final List<Ended> ended = new ArrayList<>();
  private final Map<Long, String> violations = new ConcurrentHashMap<>();

  /** Sessions that ended in the cycle that opened them, before its answers were given. */
  private final Map<Long, SessionEnd> endedEarly = new HashMap<>();

  private final PayloadScratch scratch = new PayloadScratch();

  private int cycle;
  private long lastTrafficNanos = System.nanoTime() - 1_000_000_000;

  ChannelPoller(
      CommandQueue queue, Doorbells doorbells, Clock clock, ChannelMetrics metrics, Closed closed) {
    this.queue = queue;
    this.doorbells = doorbells;
    this.clock = clock;
    this.metrics = metrics;
    this.closed = closed;
  }

  /** Begins to serve a session. */
  void open(ChannelSession session) {
    try {
      doorbells.add(session.memory().doorbell(), session.id());
    } catch (NativeException broken) {
      throw new UncheckedIOException("a doorbell cannot be watched", broken);
    }
    sessions.put(session.id(), session);
    SessionEnd reason = endedEarly.get(session.id());
    if (reason != null) {
      sessionClosed(session.id(), reason);
    }
  }

  @Override
  public int poll(Consumer<Command> loop, int limit) {
    int work = queue.drain(loop, limit);
    if (++cycle % LOOK_EVERY == 0 && !sessions.isEmpty()) {
      look(0);
    }
    int taken = 0;
    int count = hot.size();
    for (int i = 0; i < count && work + taken < limit; i++) {
      // Sessions may end meanwhile, which happens behind the end of the cycle.
      ChannelSession session = hot.get((cycle + i) % count);
      taken += session.poll(loop, Math.min(PER_SESSION, limit - work - taken));
    }
    if (taken > 0) {
      lastTrafficNanos = System.nanoTime();
    }
    return work + taken;
  }

  /** Signals clients that were answered, and lets go of sessions that ended. After each cycle. */
  void flush() throws NativeException {
    for (int i = 0; i < dirty.size(); i++) {
      ChannelSession session = dirty.get(i);
      session.dirty = false;
      session.signalIfDue();
    }
    dirty.clear();
    if (!ended.isEmpty()) {
      for (Ended each : ended) {
        letGo(each);
      }
      ended.clear();
    }
    if (!endedEarly.isEmpty()) {
      endedEarly.clear();
    }
  }

  @Override
  public void sessionClosed(long sessionId, SessionEnd reason) {
    ChannelSession session = sessions.get(sessionId);
    if (session == null) {
      endedEarly.put(sessionId, reason);
    } else {
      session.end();
      ended.add(new Ended(session, reason));
    }
  }

  /** Waits for doorbells. */
  void look(long nanos) {
    try {
      doorbells.await(nanos, this);
    } catch (NativeException broken) {
      throw new UncheckedIOException("the doorbells cannot be waited for", broken);
    }
  }

  /** A session's doorbell rang. */
  @Override
  public void accept(long sessionId) {
    ChannelSession session = sessions.get(sessionId);
    if (session != null) {
      rang(session);
    }
  }

  void rang(ChannelSession session) {
    if (!session.hot) {
      session.hot = true;
      hot.add(session);
    }
  }

  void dirty(ChannelSession session) {
    if (!session.dirty) {
      session.dirty = true;
      dirty.add(session);
    }
  }

  void violation(ChannelSession session, String why) {
    violation(session.id(), why);
  }

  /** Notes why a session is about to be closed. Any thread. */
  void violation(long sessionId, String why) {
    metrics.violation();
    violations.put(sessionId, why);
  }

  /**
   * The last look before a sleep: lets sessions with an empty ring cool down.
   *
   * @return whether some session has something to take
   */
  boolean somethingToTake() {
    for (int i = hot.size() - 1; i >= 0; i--) {
      ChannelSession session = hot.get(i);
      if (session.somethingToTake()) {
        return true;
      }
      if (!session.blocked()) {
        session.hot = false;
        ChannelSession last = hot.removeLast();
        if (last != session) {
          hot.set(i, last);
        }
      }
    }
    return false;
  }

  /** Whether a client has to read answers before more of its requests are taken. */
  boolean blocked() {
    return !hot.isEmpty();
  }

  /** When a request was last taken, of {@link System#nanoTime}. */
  long lastTrafficNanos() {
    return lastTrafficNanos;
  }

  /** Requests of a session that are taken and not answered for good; 0 for an unknown one. */
  int outstanding(long sessionId) {
    ChannelSession session = sessions.get(sessionId);
    return session == null ? 0 : session.channel().outstanding();
  }

  int sessionCount() {
    return sessions.size();
  }

  ChannelMetrics metrics() {
    return metrics;
  }

  /** Where payloads of all sessions are copied to, for as long as one is looked at. */
  PayloadScratch scratch() {
    return scratch;
  }

  long wallMicros() {
    return clock.wallMicros();
  }

  private void letGo(Ended each) throws NativeException {
    ChannelSession session = each.session();
    doorbells.remove(session.memory().doorbell());
    sessions.remove(session.id());
    hot.remove(session);
    session.hot = false;
    session.channel().setState(3);
    String why = violations.remove(session.id());
    closed.sessionClosed(session, each.reason(), why == null ? "" : why);
  }
}
