package io.orbitkv.client.fake;

import io.orbitkv.ffi.Epoll;
import io.orbitkv.ffi.EpollEvents;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.UnixListener;
import io.orbitkv.ffi.UnixSocket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A Manager without a core: it speaks docs/protocol.md at a real socket, keeps blocks in maps, and
 * answers everything at once on one thread. Tests of the client run against it.
 */
public final class FakeManager implements AutoCloseable {
  private static final long WAIT_NANOS = 2_000_000;
  private static final long LISTENER = 0;
  private static final long OTHER = 1;

  /** The right to read some blocks. */
  record FakeLease(
      long sessionId,
      long instanceId,
      long expiresAtNanos,
      Map<Integer, Integer> fromTokens,
      Map<Integer, Integer> pageTokens,
      Map<Integer, List<FakeCache.Block>> held) {

    int from(int groupId) {
      return fromTokens.getOrDefault(groupId, 0);
    }

    /** The leased blocks of a group from a token on. */
    List<FakeCache.Block> blocks(int groupId, int fromToken) {
      List<FakeCache.Block> blocks = held.getOrDefault(groupId, List.of());
      int skip = (fromToken - from(groupId)) / pageTokens.getOrDefault(groupId, 1);
      return skip >= blocks.size() ? List.of() : blocks.subList(skip, blocks.size());
    }
  }

  final FakeCache cache = new FakeCache();
  final Map<Long, FakeLease> leases = new HashMap<>();
  final List<FakeConnection> connections = new ArrayList<>();
  final Map<String, Long> instances = new HashMap<>();
  private final long epoch;
  private final int leaseMillis;
  private final long spinNanos;
  private final UnixListener listener;
  private final Epoll epoll;
  private final Thread thread;
  private volatile boolean stopping;
  private volatile boolean frozen;
  private volatile boolean asleep;
  private volatile @Nullable Throwable failure;
  private long lastId;

  private FakeManager(String path, long epoch, int leaseMillis, long spinNanos)
      throws NativeException {
    this.epoch = epoch;
    this.leaseMillis = leaseMillis;
    this.spinNanos = spinNanos;
    this.lastId = epoch * 1_000_000;
    listener = UnixListener.listen(path, 0600, 16);
    epoll = Epoll.create();
    epoll.add(listener.descriptor(), Epoll.IN, LISTENER);
    thread = Thread.ofPlatform().daemon().name("fake-manager").start(this::run);
  }

  /**
   * Starts one.
   *
   * @param spinNanos how long it looks for more work before it sleeps
   */
  public static FakeManager start(String path, long epoch, int leaseMillis, long spinNanos)
      throws NativeException {
    return new FakeManager(path, epoch, leaseMillis, spinNanos);
  }

  long epoch() {
    return epoch;
  }

  int leaseMillis() {
    return leaseMillis;
  }

  long nextId() {
    return ++lastId;
  }

  Epoll epoll() {
    return epoll;
  }

  /** Serves nothing until {@link #thaw}, as if stopped by a signal. */
  public void freeze() throws InterruptedException {
    frozen = true;
    while (!asleep && thread.isAlive()) {
      Thread.sleep(1);
    }
  }

  /** Serves again. */
  public void thaw() {
    frozen = false;
  }

  /** Stops at once, as if killed: sockets close, nobody is told. */
  @Override
  public void close() {
    stopping = true;
    try {
      thread.join(5000);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    Throwable thrown = failure;
    if (thrown != null) {
      throw new IllegalStateException("the fake Manager failed", thrown);
    }
  }

  long lease(FakeSession session, FakeCache.Found found) {
    Map<Integer, Integer> from = new HashMap<>();
    Map<Integer, Integer> pages = new HashMap<>();
    Map<Integer, List<FakeCache.Block>> held = new HashMap<>();
    for (int g = 0; g < found.blocks().size(); g++) {
      int groupId = found.answer().groups().get(g).groupId();
      from.put(groupId, found.answer().groups().get(g).fromToken());
      pages.put(groupId, session.namespace.groups().get(g).pageTokens());
      held.put(groupId, found.blocks().get(g));
    }
    long expires = System.nanoTime() + leaseMillis * 1_000_000L;
    long id = nextId();
    leases.put(
        id, new FakeLease(session.sessionId, session.instanceId, expires, from, pages, held));
    return id;
  }

  boolean release(long leaseId, long instanceId) {
    FakeLease lease = leases.get(leaseId);
    return lease != null && lease.instanceId() == instanceId && leases.remove(leaseId) != null;
  }

  private void run() {
    EpollEvents events = new EpollEvents(64);
    long busyUntil = 0;
    try {
      while (!stopping) {
        asleep = frozen;
        if (asleep) {
          LockSupport.parkNanos(WAIT_NANOS);
          continue;
        }
        boolean spin = System.nanoTime() < busyUntil;
        int count = epoll.await(events, spin ? 0 : WAIT_NANOS);
        for (int i = 0; i < count; i++) {
          if (events.data(i) == LISTENER) {
            accept();
          }
        }
        if (serveAll()) {
          busyUntil = System.nanoTime() + spinNanos;
        }
      }
    } catch (NativeException | RuntimeException | Error thrown) {
      failure = thrown;
    } finally {
      connections.forEach(FakeConnection::close);
      listener.close();
      epoll.close();
    }
  }

  private boolean serveAll() throws NativeException {
    long now = System.nanoTime();
    leases.values().removeIf(lease -> lease.expiresAtNanos() < now);
    boolean worked = false;
    for (FakeConnection connection : List.copyOf(connections)) {
      FakeSession session = connection.session();
      if (session != null && session.channel.hasNext()) {
        worked = true;
        if (!session.serve()) {
          connection.violate(session.channel.brokenReason());
        }
      }
      if (connection.session() != null) {
        connection.requireSession().decideTickets(now);
      }
      connection.read();
    }
    connections.removeIf(FakeConnection::isClosed);
    return worked;
  }

  private void accept() throws NativeException {
    Optional<UnixSocket> socket = listener.accept();
    if (socket.isPresent()) {
      epoll.add(socket.get().descriptor(), Epoll.IN | Epoll.ET, OTHER);
      connections.add(new FakeConnection(this, socket.get()));
    }
  }
}
