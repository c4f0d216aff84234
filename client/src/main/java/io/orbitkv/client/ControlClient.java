package io.orbitkv.client;

import io.orbitkv.client.control.Cleaned;
import io.orbitkv.client.control.Cleanup;
import io.orbitkv.client.control.Empty;
import io.orbitkv.client.control.Frame;
import io.orbitkv.client.control.FrameType;
import io.orbitkv.client.control.Health;
import io.orbitkv.client.control.HelloOk;
import io.orbitkv.client.control.Sessions;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.Refusal;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A connection without a session: for operators' tools. Safe for any number of threads. */
public final class ControlClient implements AutoCloseable {
  private final ControlConnection connection;
  private final ClientOptions options;

  private ControlClient(ControlConnection connection, ClientOptions options) {
    this.connection = connection;
    this.options = options;
  }

  /** Connects and says HELLO. */
  public static Answer<ControlClient> connect(ClientOptions options) {
    return switch (ControlConnection.open(options)) {
      case Answer.Refused<ControlConnection>(Refusal refusal) -> Answer.refused(refusal);
      case Answer.Ok<ControlConnection>(ControlConnection connection) ->
          Answer.ok(new ControlClient(connection, options));
    };
  }

  /** What the Manager said of itself. */
  public HelloOk hello() {
    return connection.hello();
  }

  /** How the daemon is. */
  public Answer<Health> health() {
    return health(connection, options);
  }

  /** Its live sessions. */
  public Answer<Sessions> sessions() {
    return sessions(connection, options);
  }

  /** Ends every session of an instance. */
  public Answer<Cleaned> cleanup(String instance) {
    return cleanup(connection, options, instance, null);
  }

  /** The same, but only if this is a live session of the instance. */
  public Answer<Cleaned> cleanup(String instance, long expectSessionId) {
    return cleanup(connection, options, instance, expectSessionId);
  }

  @Override
  public void close() {
    connection.close();
  }

  static Answer<Health> health(ControlConnection connection, ClientOptions options) {
    return call(
        connection, FrameType.HEALTH, new Empty().encode(), options.controlNanos(), Health::decode);
  }

  static Answer<Sessions> sessions(ControlConnection connection, ClientOptions options) {
    return call(
        connection,
        FrameType.SESSIONS,
        new Empty().encode(),
        options.controlNanos(),
        Sessions::decode);
  }

  static Answer<Cleaned> cleanup(
      ControlConnection connection,
      ClientOptions options,
      String instance,
      @Nullable Long expectSessionId) {
    return call(
        connection,
        FrameType.CLEANUP,
        new Cleanup(instance, expectSessionId).encode(),
        options.drainNanos(),
        Cleaned::decode);
  }

  private static <T> Answer<T> call(
      ControlConnection connection,
      FrameType type,
      byte[] json,
      long timeoutNanos,
      Function<byte[], Decoded<T>> decode) {
    return switch (connection.call(type, json, List.of(), timeoutNanos)) {
      case Answer.Refused<Frame>(Refusal refusal) -> Answer.refused(refusal);
      case Answer.Ok<Frame>(Frame frame) ->
          switch (decode.apply(frame.json())) {
            case Decoded.Good<T>(T value) -> Answer.ok(value);
            case Decoded.Bad<T>(Refusal refusal) -> Answer.refused(refusal);
          };
    };
  }
}
