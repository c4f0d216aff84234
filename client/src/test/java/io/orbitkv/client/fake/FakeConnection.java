package io.orbitkv.client.fake;

import io.orbitkv.client.control.Cleaned;
import io.orbitkv.client.control.Cleanup;
import io.orbitkv.client.control.Closing;
import io.orbitkv.client.control.Empty;
import io.orbitkv.client.control.Frame;
import io.orbitkv.client.control.FrameRead;
import io.orbitkv.client.control.FrameReader;
import io.orbitkv.client.control.FrameType;
import io.orbitkv.client.control.FrameWriter;
import io.orbitkv.client.control.Health;
import io.orbitkv.client.control.Hello;
import io.orbitkv.client.control.HelloOk;
import io.orbitkv.client.control.Refused;
import io.orbitkv.client.control.Register;
import io.orbitkv.client.control.Registered;
import io.orbitkv.client.control.Sessions;
import io.orbitkv.client.control.Unregister;
import io.orbitkv.client.wire.ChannelGeometry;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.ffi.Epoll;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.PeerCredentials;
import io.orbitkv.ffi.UnixSocket;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One connection of the fake Manager: the control path. */
final class FakeConnection implements AutoCloseable {
  private static final long SEND_NANOS = 1_000_000_000L;

  private final FakeManager manager;
  private final UnixSocket socket;
  private final FrameReader reader;
  private boolean greeted;
  private boolean closed;
  private @Nullable FakeSession session;

  FakeConnection(FakeManager manager, UnixSocket socket) {
    this.manager = manager;
    this.socket = socket;
    this.reader = new FrameReader(socket);
  }

  @Nullable FakeSession session() {
    return session;
  }

  FakeSession requireSession() {
    FakeSession open = session;
    if (open == null) {
      throw new IllegalStateException("no session");
    }
    return open;
  }

  boolean isClosed() {
    return closed;
  }

  /** Reads and answers what is there. */
  void read() {
    try {
      while (!closed) {
        switch (reader.read()) {
          case FrameRead.Incomplete _ -> {
            return;
          }
          case FrameRead.Ended _ -> close();
          case FrameRead.Broken broken -> {
            if (broken.answerable()) {
              refuse(broken.correlationId(), broken.refusal(), true);
            }
            close();
          }
          case FrameRead.Complete(Frame frame) -> {
            handle(frame);
            frame.closeDescriptors();
          }
        }
      }
    } catch (NativeException gone) {
      close();
    }
  }

  /** Closes it because the client broke the protocol. */
  void violate(String reason) {
    tell(Closing.Reason.PROTOCOL_VIOLATION, reason);
    close();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    FakeSession ended = session;
    session = null;
    if (ended != null) {
      manager.leases.values().removeIf(lease -> lease.sessionId() == ended.sessionId);
      for (FakeConnection other : List.copyOf(manager.connections)) {
        FakeSession theirs = other.session;
        Long parent = theirs == null ? null : theirs.register.attachTo();
        if (parent != null && parent == ended.sessionId) {
          other.tell(Closing.Reason.PARENT_ENDED, "session " + parent + " ended");
          other.close();
        }
      }
      ended.close();
    }
    reader.close();
    socket.close();
  }

  private void handle(Frame frame) throws NativeException {
    long id = frame.header().correlationId();
    FrameType type = FrameType.of(frame.header().type());
    if (type == null || !type.isRequest()) {
      refuse(id, Refusal.of(RefusalCode.UNKNOWN_TYPE, "type " + frame.header().type()), false);
      return;
    }
    if (type != FrameType.REGISTER && !frame.descriptors().isEmpty()) {
      refuse(id, Refusal.of(RefusalCode.BAD_FD_COUNT, "this message has no descriptors"), true);
      close();
      return;
    }
    if (type != FrameType.HELLO && !greeted) {
      refuse(id, Refusal.of(RefusalCode.HELLO_FIRST, "the first frame is " + type), true);
      close();
      return;
    }
    switch (type) {
      case HELLO -> hello(id, frame);
      case REGISTER -> register(id, frame);
      case HEALTH -> {
        if (accept(id, Empty.decode(frame.json())) != null) {
          reply(id, FrameType.HEALTH_OK, health().encode(), List.of());
        }
      }
      case SESSIONS -> {
        if (accept(id, Empty.decode(frame.json())) != null) {
          reply(id, FrameType.SESSIONS_OK, sessions().encode(), List.of());
        }
      }
      case UNREGISTER -> unregister(id, frame);
      case CLEANUP -> cleanup(id, frame);
      case HELLO_OK, REGISTERED, HEALTH_OK, SESSIONS_OK, UNREGISTERED, CLEANED, REFUSED, CLOSING ->
          throw new IllegalStateException("not a request: " + type);
    }
  }

  private void hello(long id, Frame frame) throws NativeException {
    Hello hello = accept(id, Hello.decode(frame.json()));
    if (hello == null) {
      return;
    }
    if (greeted) {
      refuse(id, Refusal.of(RefusalCode.ALREADY_REGISTERED, "a second HELLO"), false);
      return;
    }
    if (!hello.protocolVersions().contains(Hello.PROTOCOL_VERSION)) {
      refuse(id, Refusal.of(RefusalCode.UNSUPPORTED_VERSION, "this Manager speaks 1"), true);
      close();
      return;
    }
    greeted = true;
    HelloOk.Limits limits =
        HelloOk.Limits.STANDARD.withLives(manager.leaseMillis(), 10_000, 60_000);
    HelloOk answer = new HelloOk(1, manager.epoch(), "fake/1", limits);
    reply(id, FrameType.HELLO_OK, answer.encode(), List.of());
  }

  private void register(long id, Frame frame) throws NativeException {
    Register register = accept(id, Register.decode(frame.json()));
    if (register == null) {
      return;
    }
    if (session != null) {
      refuse(id, Refusal.of(RefusalCode.ALREADY_REGISTERED, "a second REGISTER"), false);
      return;
    }
    long wanted =
        FakeBuffers.list(register.buffers()).stream()
            .filter(buffer -> buffer.kind() == Register.BufferKind.HOST)
            .count();
    if (frame.descriptors().size() != wanted) {
      refuse(id, Refusal.of(RefusalCode.BAD_FD_COUNT, wanted + " buffers are declared"), true);
      close();
      return;
    }
    List<FakeBuffers> mapped = new ArrayList<>();
    Refusal refusal = FakeRegistration.problem(manager, register, frame.descriptors(), mapped);
    if (refusal != null) {
      mapped.forEach(FakeBuffers::close);
      refuse(id, refusal, false);
      return;
    }
    open(id, register, mapped);
  }

  private void open(long id, Register register, List<FakeBuffers> mapped) throws NativeException {
    Long superseded = null;
    for (FakeConnection other : List.copyOf(manager.connections)) {
      FakeSession theirs = other.session;
      if (theirs != null && FakeRegistration.sameSeat(theirs.register, register)) {
        superseded = theirs.sessionId;
        other.tell(Closing.Reason.SUPERSEDED, "a newer session took over");
        other.close();
      }
    }
    FakeSession parent = FakeRegistration.session(manager, register.attachTo());
    FakeCache.Namespace namespace =
        parent == null ? FakeRegistration.bind(manager, register) : parent.namespace;
    FakeSession opened =
        new FakeSession(
            manager,
            manager.nextId(),
            manager.instances.computeIfAbsent(register.instance(), _ -> manager.nextId()),
            register,
            namespace,
            parent == null ? mapped.getFirst() : parent.buffers,
            parent == null);
    session = opened;
    manager.epoll().add(opened.doorbell.descriptor(), Epoll.IN | Epoll.ET, 1);
    Registered registered =
        new Registered(
            opened.sessionId,
            opened.instanceId,
            namespace.id,
            manager.epoch(),
            superseded,
            ChannelGeometry.STANDARD,
            null);
    List<OwnedFd> descriptors =
        List.of(
            opened.memfd.descriptor(), opened.doorbell.descriptor(), opened.signal.descriptor());
    reply(id, FrameType.REGISTERED, registered.encode(), descriptors);
  }

  private void unregister(long id, Frame frame) throws NativeException {
    Unregister unregister = accept(id, Unregister.decode(frame.json()));
    if (unregister == null) {
      return;
    }
    FakeSession mine = session;
    if (mine == null) {
      refuse(id, Refusal.of(RefusalCode.NOT_REGISTERED, "no session"), false);
    } else if (mine.sessionId != unregister.sessionId()) {
      refuse(id, Refusal.of(RefusalCode.SESSION, "not this connection's session"), false);
    } else {
      reply(id, FrameType.UNREGISTERED, unregister.encode(), List.of());
      close();
    }
  }

  private void cleanup(long id, Frame frame) throws NativeException {
    Cleanup cleanup = accept(id, Cleanup.decode(frame.json()));
    if (cleanup == null) {
      return;
    }
    FakeSession mine = session;
    Long expected = cleanup.expectSessionId();
    if (mine != null && expected == null) {
      refuse(
          id,
          Refusal.ofField(RefusalCode.MISSING_FIELD, "expectSessionId", "required with a session"),
          false);
      return;
    }
    FakeSession live = FakeRegistration.session(manager, expected);
    boolean stale =
        expected != null
            && (live == null
                || !live.register.instance().equals(cleanup.instance())
                || (mine != null && mine != live));
    if (stale) {
      refuse(id, Refusal.of(RefusalCode.SESSION_SUPERSEDED, "session " + expected), false);
      return;
    }
    List<FakeConnection> ended = new ArrayList<>();
    int leases = 0;
    int tickets = 0;
    for (FakeConnection other : manager.connections) {
      FakeSession theirs = other.session;
      if (theirs != null && theirs.register.instance().equals(cleanup.instance())) {
        ended.add(other);
        leases += leases(theirs);
        tickets += theirs.openTickets();
      }
    }
    Cleaned cleaned = new Cleaned(cleanup.instance(), ended.size(), leases, tickets);
    reply(id, FrameType.CLEANED, cleaned.encode(), List.of());
    for (FakeConnection other : ended) {
      other.tell(Closing.Reason.CLEANED, "its instance was cleaned up");
      other.close();
    }
    manager.instances.remove(cleanup.instance());
  }

  private Health health() {
    return new Health(
        Health.State.SERVING, manager.epoch(), "fake/1", 1, sessionCount(), 1, 0, 0, List.of());
  }

  private int sessionCount() {
    return (int) manager.connections.stream().filter(c -> c.session != null).count();
  }

  private int leases(FakeSession of) {
    return (int)
        manager.leases.values().stream().filter(l -> l.sessionId() == of.sessionId).count();
  }

  private Sessions sessions() throws NativeException {
    List<Sessions.Session> list = new ArrayList<>();
    for (FakeConnection connection : manager.connections) {
      FakeSession s = connection.session;
      if (s != null) {
        PeerCredentials peer = connection.socket.peerCredentials();
        list.add(
            new Sessions.Session(
                s.sessionId,
                s.instanceId,
                s.register.instance(),
                s.register.namespace(),
                s.register.shard(),
                s.register.role(),
                peer.pid(),
                peer.uid(),
                1,
                leases(s),
                s.openTickets(),
                s.channel.outstanding()));
      }
    }
    return new Sessions(list, 0);
  }

  private <T> @Nullable T accept(long id, Decoded<T> decoded) throws NativeException {
    return switch (decoded) {
      case Decoded.Good<T>(T value) -> value;
      case Decoded.Bad<T>(Refusal refusal) -> {
        refuse(id, refusal, false);
        yield null;
      }
    };
  }

  private void reply(long id, FrameType type, byte[] json, List<OwnedFd> fds)
      throws NativeException {
    FrameWriter.send(socket, type, id, json, fds, SEND_NANOS);
  }

  private void refuse(long id, Refusal refusal, boolean closing) throws NativeException {
    reply(id, FrameType.REFUSED, Refused.of(refusal, closing).encode(), List.of());
  }

  private void tell(Closing.Reason reason, String message) {
    try {
      reply(0, FrameType.CLOSING, Closing.of(reason, message).encode(), List.of());
    } catch (NativeException alreadyGone) {
      close();
    }
  }
}
