package io.orbitkv.chaos.input;

import io.orbitkv.client.control.Frame;
import io.orbitkv.client.control.FrameRead;
import io.orbitkv.client.control.FrameReader;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.UnixSocket;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A control connection that sends any bytes whatever. */
final class RawControl implements AutoCloseable {
  private static final long CONNECT_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final UnixSocket socket;
  private final FrameReader reader;

  RawControl(String path) throws NativeException {
    socket = UnixSocket.connect(path, CONNECT_NANOS);
    reader = new FrameReader(socket);
  }

  /** Sends bytes; false if the daemon has closed the connection. */
  boolean send(byte[] bytes, List<OwnedFd> descriptors) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
      socket.sendAll(copy, descriptors, CONNECT_NANOS);
      return true;
    } catch (NativeException closed) {
      return false;
    }
  }

  /** What came in answer. */
  sealed interface Reply {
    record Framed(Frame frame) implements Reply {}

    record Closed() implements Reply {}

    record Silence() implements Reply {}
  }

  /** The next frame, the end of the connection, or neither within the time. */
  Reply await(long millis) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    try {
      while (true) {
        switch (reader.read()) {
          case FrameRead.Complete(Frame frame) -> {
            return new Reply.Framed(frame);
          }
          case FrameRead.Ended _, FrameRead.Broken _ -> {
            return new Reply.Closed();
          }
          case FrameRead.Incomplete _ -> {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
              return new Reply.Silence();
            }
            var _ = socket.awaitReadable(left);
          }
        }
      }
    } catch (NativeException reset) {
      return new Reply.Closed();
    }
  }

  /** The next frame; null if the connection ended or nothing came within the time. */
  @Nullable Frame frame(long millis) {
    return await(millis) instanceof Reply.Framed(Frame frame) ? frame : null;
  }

  @Override
  public void close() {
    reader.close();
    socket.close();
  }
}
