package io.orbitkv.manager.endpoint;

import io.orbitkv.client.control.Cleaned;
import io.orbitkv.client.control.Cleanup;
import io.orbitkv.client.control.Closing;
import io.orbitkv.client.control.Empty;
import io.orbitkv.client.control.Frame;
import io.orbitkv.client.control.FrameType;
import io.orbitkv.client.control.Health;
import io.orbitkv.client.control.Hello;
import io.orbitkv.client.control.HelloOk;
import io.orbitkv.client.control.Register;
import io.orbitkv.client.control.Sessions;
import io.orbitkv.client.control.Unregister;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.core.Command;
import io.orbitkv.core.Inspection;
import io.orbitkv.core.Reply;
import io.orbitkv.core.ReplySink;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.state.HostEvent.SessionEnd;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What each control frame asks for: decoded strictly, handed to the loop as a command, and answered
 * when the loop has answered. Control thread, but for the sinks, which post their answers back.
 */
final class ControlRequests {
  private final EndpointOptions options;
  private final CommandQueue queue;
  private final Outbox outbox;
  private final ChannelPoller poller;
  private final Registrations registrations;
  private final HealthReport health;
  private final long epoch;

  /** Ends of sessions that the full queue did not take yet; one for each connection at most. */
  private final ArrayDeque<Command> unsent = new ArrayDeque<>();

  private final Map<Long, ControlConnection> bySession = new HashMap<>();
  private @Nullable ControlServer server;

  ControlRequests(
      EndpointOptions options,
      CommandQueue queue,
      Outbox outbox,
      ChannelPoller poller,
      Registrations registrations,
      HealthReport health,
      long epoch) {
    this.options = options;
    this.queue = queue;
    this.outbox = outbox;
    this.poller = poller;
    this.registrations = registrations;
    this.health = health;
    this.epoch = epoch;
  }

  void serve(ControlServer newServer) {
    server = newServer;
  }

  // ---- frames ----------------------------------------------------------------------------------

  void handle(ControlConnection connection, Frame frame) throws NativeException {
    boolean handedOn = false;
    try {
      connection.pendingCorrelationId = frame.header().correlationId();
      FrameType type = FrameType.of(frame.header().type());
      if (!connection.greeted && type != FrameType.HELLO) {
        refuse(connection, Refusal.of(RefusalCode.HELLO_FIRST, "HELLO comes first"), true);
      } else if (type == null || !type.isRequest()) {
        refuse(
            connection,
            Refusal.of(RefusalCode.UNKNOWN_TYPE, "type " + frame.header().type()),
            false);
      } else if (type != FrameType.REGISTER && !frame.descriptors().isEmpty()) {
        refuse(
            connection,
            Refusal.of(RefusalCode.BAD_FD_COUNT, type + " comes without descriptors"),
            true);
      } else {
        handle(connection, type, frame);
        handedOn = true;
      }
    } finally {
      // Mapped memory does not need its descriptor, and everything else came in vain.
      frame.closeDescriptors();
      assert handedOn || connection.pending == null;
    }
  }

  private void handle(ControlConnection connection, FrameType type, Frame frame)
      throws NativeException {
    switch (type) {
      case HELLO -> decoded(connection, Hello.decode(frame.json()), this::hello);
      case REGISTER ->
          decoded(
              connection,
              Register.decode(frame.json()),
              (to, register) -> register(to, register, frame));
      case HEALTH -> decoded(connection, Empty.decode(frame.json()), (to, _) -> health(to));
      case SESSIONS -> decoded(connection, Empty.decode(frame.json()), (to, _) -> sessions(to));
      case UNREGISTER -> decoded(connection, Unregister.decode(frame.json()), this::unregister);
      case CLEANUP -> decoded(connection, Cleanup.decode(frame.json()), this::cleanup);
      case HELLO_OK, REGISTERED, HEALTH_OK, SESSIONS_OK, UNREGISTERED, CLEANED, REFUSED, CLOSING ->
          throw new IllegalStateException(type + " is no request");
    }
  }

  /** What a well-formed request does. */
  private interface Handler<T> {
    void handle(ControlConnection connection, T request) throws NativeException;
  }

  private <T> void decoded(ControlConnection connection, Decoded<T> decoded, Handler<T> handler)
      throws NativeException {
    switch (decoded) {
      case Decoded.Good<T>(T request) -> handler.handle(connection, request);
      case Decoded.Bad<T>(Refusal refusal) -> refuse(connection, refusal, false);
    }
  }

  private void hello(ControlConnection connection, Hello hello) throws NativeException {
    if (connection.greeted) {
      refuse(connection, Refusal.of(RefusalCode.ALREADY_REGISTERED, "a second HELLO"), false);
    } else if (!hello.protocolVersions().contains(Hello.PROTOCOL_VERSION)) {
      refuse(
          connection,
          Refusal.of(
              RefusalCode.UNSUPPORTED_VERSION,
              "versions %s are offered, %d is spoken"
                  .formatted(hello.protocolVersions(), Hello.PROTOCOL_VERSION)),
          true);
    } else {
      connection.greeted = true;
      connection.deadlineNanos = Long.MAX_VALUE;
      connection.reply(
          FrameType.HELLO_OK,
          new HelloOk(Hello.PROTOCOL_VERSION, epoch, options.server(), options.limits()).encode());
    }
  }

  private void register(ControlConnection connection, Register register, Frame frame)
      throws NativeException {
    if (connection.sessionId != 0) {
      refuse(
          connection,
          Refusal.of(
              RefusalCode.ALREADY_REGISTERED,
              "session " + connection.sessionId + " is registered on this connection"),
          false);
      return;
    }
    if (register.staging() != null && frame.descriptors().isEmpty()) {
      prepareStaged(connection, register);
      return;
    }
    prepared(connection, registrations.prepare(register, frame.descriptors(), connection.peer));
  }

  /** A GPU may take a second to be opened: that is done beside this thread. */
  private void prepareStaged(ControlConnection connection, Register register) {
    connection.pending = FrameType.REGISTER;
    registrations.beside(
        () -> {
          Registrations.Prepared prepared =
              registrations.prepare(register, List.of(), connection.peer);
          outbox.post(
              () -> {
                if (!connection.closed()) {
                  current().act(connection, () -> prepared(connection, prepared));
                } else if (prepared instanceof Registrations.Prepared.Good good) {
                  good.giveBack();
                }
              });
        });
  }

  private void prepared(ControlConnection connection, Registrations.Prepared prepared)
      throws NativeException {
    switch (prepared) {
      case Registrations.Prepared.Bad(Refusal refusal) ->
          refuse(connection, refusal, refusal.is(RefusalCode.BAD_FD_COUNT));
      case Registrations.Prepared.Good good -> {
        connection.pending = FrameType.REGISTER;
        connection.attachedTo = good.attachTo();
        boolean taken =
            registrations.send(
                good,
                queue,
                registered -> outbox.post(() -> registered(connection, good, registered)),
                refused ->
                    outbox.post(
                        () -> {
                          good.memory().close();
                          answer(
                              connection,
                              () -> refuse(connection, WireAnswers.refusal(refused), false));
                        }));
        if (!taken) {
          good.giveBack();
          queueFull(connection);
        }
      }
    }
  }

  private void registered(
      ControlConnection connection, Registrations.Prepared.Good good, Reply.Registered registered) {
    if (connection.closed()) {
      end(registered.sessionId());
      return;
    }
    connection.sessionId = registered.sessionId();
    bySession.put(registered.sessionId(), connection);
    answer(
        connection,
        () ->
            connection.reply(
                FrameType.REGISTERED,
                registrations.answer(registered, good).encode(),
                registrations.toSend(good),
                () -> registrations.sent(good)));
  }

  private void health(ControlConnection connection) throws NativeException {
    ask(
        connection,
        FrameType.HEALTH,
        new Inspection.Status(),
        answer -> {
          Health report = health.of((Inspection.StatusAnswer) answer);
          return () -> connection.reply(FrameType.HEALTH_OK, report.encode());
        });
  }

  private void sessions(ControlConnection connection) throws NativeException {
    ask(
        connection,
        FrameType.SESSIONS,
        new Inspection.Sessions(),
        answer -> {
          Sessions sessions = listing((Inspection.SessionsAnswer) answer);
          return () -> connection.reply(FrameType.SESSIONS_OK, sessions.encode());
        });
  }

  /** Loop thread. */
  private Sessions listing(Inspection.SessionsAnswer answer) {
    List<Sessions.Session> listed = new ArrayList<>();
    for (Inspection.SessionView view : answer.sessions()) {
      if (listed.size() == Sessions.MAX_SESSIONS) {
        break;
      }
      listed.add(
          new Sessions.Session(
              view.sessionId(),
              view.instanceId(),
              view.instance(),
              view.namespace(),
              view.shard(),
              Formats.role(view.role()),
              view.pid(),
              view.uid(),
              view.openedAtMicros() / 1_000,
              view.leases(),
              view.tickets(),
              poller.outstanding(view.sessionId())));
    }
    return new Sessions(listed, answer.sessions().size() - listed.size());
  }

  private void unregister(ControlConnection connection, Unregister unregister)
      throws NativeException {
    long sessionId = connection.sessionId;
    if (sessionId == 0) {
      refuse(connection, Refusal.of(RefusalCode.NOT_REGISTERED, "no session here"), false);
    } else if (unregister.sessionId() != sessionId) {
      refuse(
          connection,
          Refusal.of(
              RefusalCode.SESSION,
              "session %d is not this connection's, %d"
                  .formatted(unregister.sessionId(), sessionId)),
          false);
    } else {
      send(
          connection,
          FrameType.UNREGISTER,
          sink -> new Command.CloseSession(unregister.sessionId(), SessionEnd.UNREGISTERED, sink),
          _ ->
              () -> {
                forget(connection);
                connection.reply(FrameType.UNREGISTERED, unregister.encode());
                connection.closeWhenSent();
              });
    }
  }

  private void cleanup(ControlConnection connection, Cleanup cleanup) throws NativeException {
    Long expected = cleanup.expectSessionId();
    if (connection.sessionId != 0 && expected == null) {
      refuse(
          connection,
          Refusal.ofField(
              RefusalCode.MISSING_FIELD,
              "expectSessionId",
              "a connection with a session names its own"),
          false);
    } else if (connection.sessionId != 0 && expected != null && expected != connection.sessionId) {
      refuse(
          connection,
          Refusal.ofField(
              RefusalCode.SESSION,
              "expectSessionId",
              "session %d is not this connection's, %d".formatted(expected, connection.sessionId)),
          false);
    } else {
      send(
          connection,
          FrameType.CLEANUP,
          sink ->
              new Command.CleanupInstance(
                  cleanup.instance(), expected == null ? 0 : expected, sink),
          reply -> {
            Reply.InstanceCleaned cleaned = (Reply.InstanceCleaned) reply;
            Cleaned answer =
                new Cleaned(
                    cleanup.instance(),
                    cleaned.sessionsClosed(),
                    cleaned.leasesReleased(),
                    cleaned.ticketsClosed());
            return () -> connection.reply(FrameType.CLEANED, answer.encode());
          });
    }
  }

  // ---- through the loop ------------------------------------------------------------------------

  private void ask(
      ControlConnection connection,
      FrameType type,
      Inspection what,
      Function<Inspection.Answer, ControlServer.Action> answer)
      throws NativeException {
    send(
        connection,
        type,
        sink -> new Command.Inspect(what, sink),
        reply -> answer.apply(((Reply.Inspected) reply).answer()));
  }

  /**
   * @param answer makes of any reply but a refusal, on the loop thread, what the control thread
   *     then does
   */
  private void send(
      ControlConnection connection,
      FrameType type,
      Function<ReplySink, Command> command,
      Function<Reply, ControlServer.Action> answer)
      throws NativeException {
    connection.pending = type;
    ReplySink sink =
        reply -> {
          ControlServer.Action action =
              reply instanceof Reply.Refused refused
                  ? () -> refuse(connection, WireAnswers.refusal(refused), false)
                  : answer.apply(reply);
          outbox.post(() -> answer(connection, action));
        };
    if (!queue.offer(command.apply(sink))) {
      queueFull(connection);
    }
  }

  /** Does what the loop's answer asks for, and then what waited for it. */
  private void answer(ControlConnection connection, ControlServer.Action action) {
    current()
        .act(
            connection,
            () -> {
              action.run();
              Closing closing = connection.deferredClosing;
              if (closing != null) {
                connection.deferredClosing = null;
                connection.closeWith(closing);
              }
            });
  }

  private void queueFull(ControlConnection connection) throws NativeException {
    refuse(
        connection,
        Refusal.of(RefusalCode.QUEUE_FULL, "the loop is behind with commands").withRetry(50),
        false);
  }

  private void refuse(ControlConnection connection, Refusal refusal, boolean closing)
      throws NativeException {
    current().refuse(connection, refusal, connection.pendingCorrelationId, closing);
  }

  // ---- ends ------------------------------------------------------------------------------------

  /** A connection is gone: its session ends with it. */
  void connectionClosed(ControlConnection connection) {
    long sessionId = connection.sessionId;
    if (sessionId != 0) {
      forget(connection);
      end(sessionId);
    }
  }

  private void forget(ControlConnection connection) {
    bySession.remove(connection.sessionId);
    connection.sessionId = 0;
  }

  private void end(long sessionId) {
    unsent.addLast(new Command.CloseSession(sessionId, SessionEnd.DISCONNECTED, _ -> {}));
    retry();
  }

  /** Sends what the full queue did not take. */
  void retry() {
    for (Command command; (command = unsent.peekFirst()) != null; ) {
      if (!queue.offer(command)) {
        return;
      }
      unsent.pollFirst();
    }
  }

  /** A session has ended and the loop does not touch its channel any more. Loop thread. */
  void sessionClosed(ChannelSession session, SessionEnd reason, String message) {
    outbox.post(
        () -> {
          session.memory().close();
          ControlConnection connection = bySession.remove(session.id());
          if (connection != null) {
            connection.sessionId = 0;
            Closing notice = notice(connection, reason, message);
            if (connection.pending == null) {
              current().act(connection, () -> connection.closeWith(notice));
            } else {
              connection.deferredClosing = notice;
            }
          }
        });
  }

  private static Closing notice(ControlConnection connection, SessionEnd reason, String message) {
    return switch (reason) {
      case SUPERSEDED ->
          Closing.of(
              Closing.Reason.SUPERSEDED,
              "a newer session of the same instance, shard and role took over");
      case CLEANED -> Closing.of(Closing.Reason.CLEANED, "the instance was cleaned up");
      case PROTOCOL_VIOLATION ->
          message.isEmpty() && connection.attachedTo != 0
              ? parentEnded(connection)
              : Closing.of(Closing.Reason.PROTOCOL_VIOLATION, message);
      case UNREGISTERED, DISCONNECTED -> parentEnded(connection);
      case SHUTDOWN, RESTART -> Closing.of(Closing.Reason.SHUTDOWN, "the daemon stops");
    };
  }

  private static Closing parentEnded(ControlConnection connection) {
    return Closing.of(
        Closing.Reason.PARENT_ENDED,
        "session %d, to which this one was attached, is over".formatted(connection.attachedTo));
  }

  private ControlServer current() {
    if (server == null) {
      throw new IllegalStateException("no server yet");
    }
    return server;
  }
}
