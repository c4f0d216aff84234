package io.orbitkv.client;

import io.orbitkv.client.control.Closing;
import io.orbitkv.client.control.Frame;
import io.orbitkv.client.control.FrameHeader;
import io.orbitkv.client.control.FrameRead;
import io.orbitkv.client.control.FrameReader;
import io.orbitkv.client.control.FrameType;
import io.orbitkv.client.control.FrameWriter;
import io.orbitkv.client.control.Hello;
import io.orbitkv.client.control.HelloOk;
import io.orbitkv.client.control.Refused;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.UnixSocket;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One connection of the control path. Calls are made one after the other. Until {@link #handOver} a
 * caller reads its own reply; from then on the watching thread reads, so that it sees at once when
 * the Manager closes.
 */
final class ControlConnection implements AutoCloseable {
  private static final long WATCH_NANOS = 60_000_000_000L;

  private final UnixSocket socket;
  private final FrameReader reader;
  private final ReentrantLock calls = new ReentrantLock();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition replied = lock.newCondition();
  private long correlationId;
  private long awaitedId;
  private @Nullable Frame reply;
  private @Nullable Refusal ended;
  private @Nullable Closing closing;
  private boolean watched;
  private HelloOk hello = new HelloOk(1, 1, "", HelloOk.Limits.STANDARD);

  private ControlConnection(UnixSocket socket) {
    this.socket = socket;
    this.reader = new FrameReader(socket);
  }

  /** Connects and says HELLO. */
  static Answer<ControlConnection> open(ClientOptions options) {
    UnixSocket socket;
    try {
      socket = UnixSocket.connect(options.socketPath(), options.controlNanos());
    } catch (NativeException absent) {
      return Answer.refused(
          Refusal.of(RefusalCode.DISCONNECTED, "" + absent.getMessage())
              .withText(
                  "cannot connect: " + absent.getMessage(),
                  "start the Manager, or give its --socket"));
    }
    ControlConnection connection = new ControlConnection(socket);
    Hello hello = new Hello(options.clientName(), List.of(Hello.PROTOCOL_VERSION));
    Answer<Frame> answer =
        connection.call(FrameType.HELLO, hello.encode(), List.of(), options.controlNanos());
    Answer<ControlConnection> result =
        switch (answer) {
          case Answer.Refused<Frame>(Refusal refusal) -> Answer.refused(refusal);
          case Answer.Ok<Frame>(Frame frame) -> connection.accept(HelloOk.decode(frame.json()));
        };
    if (result instanceof Answer.Refused<ControlConnection>) {
      connection.close();
    }
    return result;
  }

  /** What the Manager answered to HELLO. */
  HelloOk hello() {
    return hello;
  }

  /**
   * Sends a request and waits for its reply. After a timeout the connection is of no use any more
   * and is shut down.
   *
   * @return the reply's frame, whose descriptors are the caller's
   */
  Answer<Frame> call(FrameType type, byte[] json, List<OwnedFd> descriptors, long timeoutNanos) {
    long deadline = System.nanoTime() + timeoutNanos;
    calls.lock();
    try {
      lock.lock();
      try {
        if (ended != null) {
          return Answer.refused(ended);
        }
        awaitedId = ++correlationId;
      } finally {
        lock.unlock();
      }
      FrameWriter.send(socket, type, awaitedId, json, descriptors, timeoutNanos);
      return interpret(type, awaitReply(deadline));
    } catch (NativeException gone) {
      shutdown();
      return Answer.refused(RefusalCode.DISCONNECTED, "" + gone.getMessage());
    } finally {
      calls.unlock();
    }
  }

  /** From here on only {@link #watch} reads; until it runs, callers wait. */
  void handOver() {
    lock.lock();
    try {
      watched = true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Reads until the connection ends.
   *
   * @return what the Manager said before it closed, null if it said nothing
   */
  @Nullable Closing watch() {
    try {
      while (readOne(WATCH_NANOS)) {
        // readOne hands each frame to whom it is for.
      }
    } catch (NativeException gone) {
      end(Refusal.of(RefusalCode.DISCONNECTED, "" + gone.getMessage()));
    }
    return closing;
  }

  /** Ends both directions, which wakes the watching thread. */
  void shutdown() {
    try {
      synchronized (socket) {
        if (socket.descriptor().isOpen()) {
          socket.shutdown();
        }
      }
    } catch (NativeException notConnected) {
      // ENOTCONN: the other side was faster.
      end(Refusal.of(RefusalCode.DISCONNECTED, "" + notConnected.getMessage()));
    }
  }

  @Override
  public void close() {
    end(Refusal.of(RefusalCode.DISCONNECTED, "the connection is closed"));
    calls.lock();
    try {
      reader.close();
      synchronized (socket) {
        socket.close();
      }
    } finally {
      calls.unlock();
    }
  }

  private Answer<ControlConnection> accept(Decoded<HelloOk> decoded) {
    return switch (decoded) {
      case Decoded.Bad<HelloOk>(Refusal refusal) -> Answer.refused(refusal);
      case Decoded.Good<HelloOk>(HelloOk answer) -> {
        hello = answer;
        yield answer.version() == Hello.PROTOCOL_VERSION
            ? Answer.ok(this)
            : Answer.refused(
                RefusalCode.UNSUPPORTED_VERSION, "the Manager chose " + answer.version());
      }
    };
  }

  private Answer<Frame> awaitReply(long deadline) throws NativeException {
    lock.lock();
    try {
      while (reply == null) {
        if (ended != null) {
          return Answer.refused(ended);
        }
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          shutdown();
          return Answer.refused(RefusalCode.DEADLINE, "no reply in time");
        }
        if (watched) {
          var _ = replied.awaitNanos(left);
        } else {
          readOne(left);
        }
      }
      Frame frame = reply;
      reply = null;
      return Answer.ok(frame);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      shutdown();
      return Answer.refused(RefusalCode.DEADLINE, "interrupted");
    } finally {
      lock.unlock();
    }
  }

  private static Answer<Frame> interpret(FrameType request, Answer<Frame> answer) {
    if (!(answer instanceof Answer.Ok<Frame>(Frame frame))) {
      return answer;
    }
    int type = frame.header().type();
    if (type == request.code() + 1) {
      return answer;
    }
    frame.closeDescriptors();
    if (type != FrameType.REFUSED.code()) {
      return Answer.refused(RefusalCode.BAD_FRAME, "reply of type " + type);
    }
    return switch (Refused.decode(frame.json())) {
      case Decoded.Good<Refused>(Refused refused) -> Answer.refused(refused.refusal());
      case Decoded.Bad<Refused>(Refusal refusal) -> Answer.refused(refusal);
    };
  }

  /** Reads at most one frame; false when the connection is over. */
  private boolean readOne(long timeoutNanos) throws NativeException {
    if (!socket.awaitReadable(timeoutNanos)) {
      return true;
    }
    return switch (reader.read()) {
      case FrameRead.Incomplete _ -> true;
      case FrameRead.Complete(Frame frame) -> {
        deliver(frame);
        yield !saidGoodbye();
      }
      case FrameRead.Broken broken -> {
        end(broken.refusal());
        yield false;
      }
      case FrameRead.Ended _ -> {
        end(Refusal.of(RefusalCode.DISCONNECTED, "the Manager closed the connection"));
        yield false;
      }
    };
  }

  /** After CLOSING nothing more is to be expected, even if the Manager hangs before it closes. */
  private boolean saidGoodbye() {
    if (closing == null) {
      return false;
    }
    end(Refusal.of(RefusalCode.DISCONNECTED, "the Manager closes the connection"));
    return true;
  }

  private void deliver(Frame frame) {
    FrameHeader header = frame.header();
    lock.lock();
    try {
      if (header.type() == FrameType.CLOSING.code()) {
        frame.closeDescriptors();
        if (Closing.decode(frame.json()) instanceof Decoded.Good<Closing>(Closing said)) {
          closing = said;
        }
        return;
      }
      boolean forUs = header.correlationId() == awaitedId || header.correlationId() == 0;
      if (!forUs || reply != null) {
        frame.closeDescriptors();
        return;
      }
      reply = frame;
      replied.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void end(Refusal why) {
    lock.lock();
    try {
      if (ended == null) {
        Closing said = closing;
        ended =
            said == null ? why : why.withText(said.reason() + ": " + said.message(), why.remedy());
      }
      replied.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
