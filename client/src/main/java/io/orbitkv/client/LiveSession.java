package io.orbitkv.client;

import io.orbitkv.client.control.Closing;
import io.orbitkv.client.control.Frame;
import io.orbitkv.client.control.FrameType;
import io.orbitkv.client.control.Registered;
import io.orbitkv.client.control.Unregister;
import io.orbitkv.client.gpu.BoardServer;
import io.orbitkv.client.gpu.StagedPages;
import io.orbitkv.client.wire.BoardLayout;
import io.orbitkv.client.wire.ChannelGeometry;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.ffi.Errno;
import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.Memfd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.Seal;
import io.orbitkv.ffi.SealCheck;
import io.orbitkv.ffi.cuda.CudaException;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One registered session: its connection and its channel, from REGISTERED to its end. */
final class LiveSession {
  private final ControlConnection connection;
  private final Registered registered;
  private final ChannelDriver driver;
  private final @Nullable BoardServer board;

  private LiveSession(
      ControlConnection connection,
      Registered registered,
      ChannelDriver driver,
      @Nullable BoardServer board) {
    this.connection = connection;
    this.registered = registered;
    this.driver = driver;
    this.board = board;
  }

  /** Connects and registers. */
  static Answer<LiveSession> open(ClientOptions options, Registration registration) {
    return switch (ControlConnection.open(options)) {
      case Answer.Refused<ControlConnection>(Refusal refusal) -> Answer.refused(refusal);
      case Answer.Ok<ControlConnection>(ControlConnection connection) -> {
        Answer<LiveSession> answer = register(connection, options, registration);
        if (answer instanceof Answer.Refused<LiveSession>) {
          connection.close();
        }
        yield answer;
      }
    };
  }

  Registered registered() {
    return registered;
  }

  ControlConnection connection() {
    return connection;
  }

  ChannelDriver driver() {
    return driver;
  }

  int maxPayloadBytes() {
    return registered.channel().maxPayloadBytes();
  }

  /** Waits until the session is over, ends what is pending, and closes everything. */
  @Nullable Closing watch() {
    Closing closing = connection.watch();
    String why =
        closing == null ? "the Manager is gone" : closing.reason() + ", " + closing.message();
    driver.lose(Refusal.of(RefusalCode.SESSION_LOST, "the session ended: " + why));
    if (board != null) {
      board.close();
    }
    connection.close();
    return closing;
  }

  /** Ends the session in order: after it no copy of it touches a buffer. */
  Answer<Frame> unregister(long timeoutNanos) {
    return connection.call(
        FrameType.UNREGISTER,
        new Unregister(registered.sessionId()).encode(),
        List.of(),
        timeoutNanos);
  }

  private static Answer<LiveSession> register(
      ControlConnection connection, ClientOptions options, Registration registration) {
    List<OwnedFd> descriptors =
        registration.buffers().stream().map(HostBuffer::descriptor).toList();
    Answer<Frame> answer =
        connection.call(
            FrameType.REGISTER,
            registration.register().encode(),
            descriptors,
            options.drainNanos());
    return switch (answer) {
      case Answer.Refused<Frame>(Refusal refusal) -> Answer.refused(refusal);
      case Answer.Ok<Frame>(Frame frame) -> {
        Answer<LiveSession> result = open(connection, frame, registration);
        if (result instanceof Answer.Refused<LiveSession>) {
          frame.closeDescriptors();
        }
        yield result;
      }
    };
  }

  private static Answer<LiveSession> open(
      ControlConnection connection, Frame frame, Registration registration) {
    List<OwnedFd> fds = frame.descriptors();
    return switch (Registered.decode(frame.json())) {
      case Decoded.Bad<Registered>(Refusal refusal) -> Answer.refused(refusal);
      case Decoded.Good<Registered>(Registered registered) ->
          fds.size() == registered.descriptors()
                  && (registered.board() != null) == (registration.staged() != null)
              ? map(connection, registered, fds, registration.staged())
              : Answer.refused(
                  RefusalCode.BAD_FD_COUNT,
                  fds.size() + " descriptors, not " + registered.descriptors());
    };
  }

  private static Answer<LiveSession> map(
      ControlConnection connection,
      Registered registered,
      List<OwnedFd> fds,
      @Nullable StagedPages staged) {
    ChannelGeometry geometry = registered.channel();
    Mapping mapping;
    try {
      SealCheck check = Memfd.requireSealed(fds.get(0), EnumSet.of(Seal.SHRINK));
      if (!(check instanceof SealCheck.Sealed sealed) || sealed.bytes() < geometry.bytes()) {
        return Answer.refused(RefusalCode.BAD_BUFFER, "the channel memory: " + check);
      }
      mapping = Mapping.shared(fds.get(0), 0, geometry.bytes(), MapOptions.READ_WRITE);
    } catch (NativeException failed) {
      return Answer.refused(RefusalCode.BAD_BUFFER, "the channel memory: " + failed.getMessage());
    }
    try {
      EventFd doorbell = EventFd.adopt(fds.get(1));
      EventFd signal = EventFd.adopt(fds.get(2));
      BoardServer board = staged == null ? null : serve(staged, registered, fds);
      fds.get(0).close();
      ChannelDriver driver =
          new ChannelDriver(
              mapping,
              doorbell,
              signal,
              geometry,
              connection.hello().limits().maxOutstanding(),
              registered.epoch(),
              registered.sessionId(),
              connection::shutdown);
      connection.handOver();
      return Answer.ok(new LiveSession(connection, registered, driver, board));
    } catch (NativeException failed) {
      mapping.close();
      return Answer.refused(RefusalCode.BAD_BUFFER, "the eventfds: " + failed.getMessage());
    } catch (CudaException failed) {
      mapping.close();
      return Answer.refused(RefusalCode.BUFFER_KIND, "the staging ring: " + failed.getMessage());
    }
  }

  /** Starts to serve the board that came with a staged session. */
  private static BoardServer serve(StagedPages staged, Registered registered, List<OwnedFd> fds)
      throws NativeException, CudaException {
    Registered.Board declared = registered.board();
    long bytes = declared == null ? 0 : declared.bytes();
    int slots = staged.staging().slots();
    SealCheck check = Memfd.requireSealed(fds.get(3), EnumSet.of(Seal.SHRINK));
    if (!(check instanceof SealCheck.Sealed sealed)
        || sealed.bytes() < bytes
        || bytes < BoardLayout.bytes(slots)) {
      throw new NativeException("mmap", Errno.EINVAL, "the board: " + check);
    }
    Mapping board = Mapping.shared(fds.get(3), 0, bytes, MapOptions.READ_WRITE);
    try {
      if (!BoardLayout.isHeader(board.segment(), slots)) {
        throw new NativeException("mmap", Errno.EINVAL, "the board's header");
      }
      EventFd toEngine = EventFd.adopt(fds.get(4));
      EventFd toManager = EventFd.adopt(fds.get(5));
      BoardServer server = staged.serve(board, toEngine, toManager);
      fds.get(3).close();
      return server;
    } catch (NativeException | CudaException failed) {
      board.close();
      throw failed;
    }
  }
}
