package io.orbitkv.client.control;

import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.UnixSocket;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.List;

/** Writes control frames. */
public final class FrameWriter {
  private FrameWriter() {}

  /** The bytes of a frame. */
  public static byte[] encode(FrameType type, long correlationId, byte[] json, int fdCount) {
    byte[] frame = new byte[FrameHeader.BYTES + json.length];
    new FrameHeader(type.code(), json.length, fdCount, correlationId)
        .encode(ByteBuffer.wrap(frame));
    System.arraycopy(json, 0, frame, FrameHeader.BYTES, json.length);
    return frame;
  }

  /**
   * Sends a frame, its descriptors with the first byte.
   *
   * @param timeoutNanos how long the peer may take to make room
   * @throws NativeException ETIMEDOUT if it took longer; EPIPE or ECONNRESET if it is gone. In both
   *     cases part of the frame may be sent: the connection cannot be used any more.
   */
  public static void send(
      UnixSocket socket,
      FrameType type,
      long correlationId,
      byte[] json,
      List<OwnedFd> descriptors,
      long timeoutNanos)
      throws NativeException {
    byte[] frame = encode(type, correlationId, json, descriptors.size());
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, frame);
      socket.sendAll(bytes, descriptors, timeoutNanos);
    }
  }
}
