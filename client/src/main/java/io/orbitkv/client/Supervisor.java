package io.orbitkv.client;

import io.orbitkv.client.control.Closing;
import io.orbitkv.client.control.Register;
import io.orbitkv.client.wire.Category;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps one session alive: a thread that reads its connection, sees it end, and makes it again with
 * pauses of 10 ms that double up to 1 s. It gives up when the Manager refuses the registration for
 * a reason that trying again does not cure, and after the session was superseded or cleaned up,
 * because two processes that both came back would supersede each other for ever.
 */
final class Supervisor {
  private static final long FIRST_PAUSE_MILLIS = 10;
  private static final long LAST_PAUSE_MILLIS = 1000;
  private static final long PARENT_WAIT_MILLIS = 1000;
  private static final long JOIN_MILLIS = 5000;

  private final ClientOptions options;
  private final Registration registration;
  private final @Nullable Supervisor parent;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private volatile @Nullable LiveSession current;
  private Refusal why = Refusal.of(RefusalCode.DISCONNECTED, "not connected yet");
  private boolean closed;
  private boolean givenUp;
  private @Nullable Thread thread;

  private Supervisor(
      ClientOptions options, Registration registration, @Nullable Supervisor parent) {
    this.options = options;
    this.registration = registration;
    this.parent = parent;
  }

  /** A session with a declaration of its own. */
  static Supervisor of(ClientOptions options, Registration registration) {
    return new Supervisor(options, registration, null);
  }

  /** A session for saves that is attached to this one. */
  Supervisor attached() {
    return new Supervisor(options, registration, this);
  }

  String instance() {
    return registration.register().instance();
  }

  /** The live session, null while there is none. */
  @Nullable LiveSession current() {
    return current;
  }

  /** Why there is none. */
  Refusal why() {
    lock.lock();
    try {
      return why;
    } finally {
      lock.unlock();
    }
  }

  /** Connects once and starts to watch; null if that succeeded. */
  @Nullable Refusal start() {
    return switch (connect()) {
      case Answer.Refused<LiveSession>(Refusal refusal) -> refusal;
      case Answer.Ok<LiveSession>(LiveSession session) -> {
        var _ = set(session);
        String name = "orbitkv-" + instance() + (parent == null ? "" : "-save");
        thread = Thread.ofPlatform().daemon().name(name).start(() -> run(session));
        yield null;
      }
    };
  }

  /** Waits for a session; whether there is one. */
  boolean awaitConnected(long timeoutMillis) {
    long left = timeoutMillis * 1_000_000L;
    lock.lock();
    try {
      while (current == null && !closed && !givenUp && left > 0) {
        left = changed.awaitNanos(left);
      }
      return current != null;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return current != null;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the session in order and for good. */
  void close() {
    LiveSession session;
    lock.lock();
    try {
      closed = true;
      why = Refusal.of(RefusalCode.DISCONNECTED, "the client is closed");
      session = current;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    if (session != null) {
      var _ = session.unregister(options.drainNanos());
      session.connection().shutdown();
    }
    Thread watcher = thread;
    if (watcher != null && watcher != Thread.currentThread()) {
      try {
        watcher.join(JOIN_MILLIS);
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void run(LiveSession first) {
    LiveSession session = first;
    while (session != null) {
      Closing closing = session.watch();
      boolean back = options.reconnect() && (closing == null || closing.mayReconnect());
      String reason = closing == null ? "the Manager is gone" : closing.reason();
      boolean superseded = closing != null && !closing.mayReconnect();
      clear(superseded ? RefusalCode.SESSION_SUPERSEDED : RefusalCode.DISCONNECTED, reason, !back);
      session = back ? reconnect() : null;
    }
  }

  private @Nullable LiveSession reconnect() {
    long pauseMillis = FIRST_PAUSE_MILLIS;
    while (pause(pauseMillis)) {
      pauseMillis = Math.min(LAST_PAUSE_MILLIS, pauseMillis * 2);
      switch (connect()) {
        case Answer.Ok<LiveSession>(LiveSession session) -> {
          if (set(session)) {
            return session;
          }
          session.connection().shutdown();
          var _ = session.watch();
          return null;
        }
        case Answer.Refused<LiveSession>(Refusal refusal) -> {
          if (isFinal(refusal)) {
            giveUp(refusal);
            return null;
          }
          note(refusal);
        }
      }
    }
    return null;
  }

  private Answer<LiveSession> connect() {
    Supervisor owner = parent;
    if (owner == null) {
      return LiveSession.open(options, registration);
    }
    if (!owner.awaitConnected(PARENT_WAIT_MILLIS)) {
      return Answer.refused(owner.why());
    }
    LiveSession to = owner.current();
    if (to == null) {
      return Answer.refused(owner.why());
    }
    Register declared = registration.register();
    Register register =
        Register.attached(
            declared.instance(),
            declared.namespace(),
            declared.shard(),
            declared.shardCount(),
            to.registered().sessionId());
    return LiveSession.open(options, new Registration(register, List.of()));
  }

  private boolean isFinal(Refusal refusal) {
    Supervisor owner = parent;
    if (owner != null && (owner.isOver() || refusal.is(RefusalCode.ATTACH_MISMATCH))) {
      return owner.isOver();
    }
    return refusal.category() == Category.USER;
  }

  private boolean isOver() {
    lock.lock();
    try {
      return closed || givenUp;
    } finally {
      lock.unlock();
    }
  }

  /** Waits between attempts, a little less or more each time; false if the client was closed. */
  private boolean pause(long millis) {
    long left = millis * ThreadLocalRandom.current().nextLong(750_000, 1_250_001);
    lock.lock();
    try {
      while (!closed && left > 0) {
        left = changed.awaitNanos(left);
      }
      return !closed;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }

  private boolean set(LiveSession session) {
    lock.lock();
    try {
      if (closed) {
        return false;
      }
      current = session;
      changed.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void clear(RefusalCode code, String reason, boolean forGood) {
    lock.lock();
    try {
      current = null;
      givenUp |= forGood;
      if (!closed) {
        why = Refusal.of(code, reason);
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void note(Refusal refusal) {
    lock.lock();
    try {
      if (!closed) {
        why = Refusal.of(RefusalCode.DISCONNECTED, refusal.message());
      }
    } finally {
      lock.unlock();
    }
  }

  private void giveUp(Refusal refusal) {
    lock.lock();
    try {
      givenUp = true;
      if (!closed) {
        why = refusal;
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
