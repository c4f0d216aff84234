package io.orbitkv.client.control;

import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.Received;
import io.orbitkv.ffi.UnixSocket;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Assembles control frames from a nonblocking socket, a piece at a time. A frame's memory is
 * bounded by its header, which is checked before the payload is read. One thread at a time.
 *
 * <p>Descriptors may come with a frame's first byte only; any others end the connection.
 */
public final class FrameReader implements AutoCloseable {
  private static final int CHUNK_BYTES = 16_384;

  private final UnixSocket socket;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment chunk = arena.allocate(CHUNK_BYTES, 8);
  private final ByteBuffer headerBytes = ByteBuffer.allocate(FrameHeader.BYTES);
  private FrameHeader header = new FrameHeader(0, 0, 0, 0);
  private byte[] json = new byte[0];
  private int jsonFilled;
  private boolean headerComplete;
  private List<OwnedFd> descriptors = List.of();

  /** A reader of a socket, which stays the caller's to close. */
  public FrameReader(UnixSocket socket) {
    this.socket = socket;
  }

  /** Whether part of a frame has been read. */
  public boolean insideFrame() {
    return headerBytes.position() > 0;
  }

  /**
   * Reads what is there, up to the end of one frame.
   *
   * @throws NativeException if the socket failed; the peer is gone then too
   */
  public FrameRead read() throws NativeException {
    while (true) {
      int wanted =
          headerComplete ? json.length - jsonFilled : FrameHeader.BYTES - headerBytes.position();
      MemorySegment into = chunk.asSlice(0, Math.min(wanted, CHUNK_BYTES));
      switch (socket.receive(into, FrameHeader.MAX_FDS)) {
        case Received.WouldBlock _ -> {
          return new FrameRead.Incomplete();
        }
        case Received.EndOfStream _ -> {
          return new FrameRead.Ended(insideFrame());
        }
        case Received.DescriptorsLost _ -> {
          return badDescriptors("descriptors were lost on the way");
        }
        case Received.Data data -> {
          boolean first = headerBytes.position() == 0;
          if (!data.descriptors().isEmpty()) {
            if (!first) {
              data.descriptors().forEach(OwnedFd::close);
              return badDescriptors("descriptors came after the first byte");
            }
            descriptors = data.descriptors();
          }
          FrameRead result = take(into, data.bytes());
          if (!(result instanceof FrameRead.Incomplete)) {
            return result;
          }
        }
      }
    }
  }

  /** Closes descriptors of a frame that was not finished, and frees memory. */
  @Override
  public void close() {
    dropDescriptors();
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }

  private FrameRead take(MemorySegment from, int bytes) {
    if (headerComplete) {
      MemorySegment.copy(from, ValueLayout.JAVA_BYTE, 0, json, jsonFilled, bytes);
      jsonFilled += bytes;
      return jsonFilled == json.length ? complete() : new FrameRead.Incomplete();
    }
    MemorySegment.copy(
        from, ValueLayout.JAVA_BYTE, 0, headerBytes.array(), headerBytes.position(), bytes);
    headerBytes.position(headerBytes.position() + bytes);
    if (headerBytes.hasRemaining()) {
      return new FrameRead.Incomplete();
    }
    headerBytes.flip();
    switch (FrameHeader.decode(headerBytes)) {
      case Decoded.Bad<FrameHeader>(Refusal refusal) -> {
        dropDescriptors();
        boolean answerable = !refusal.field().equals("magic");
        return new FrameRead.Broken(refusal, correlationId(), answerable);
      }
      case Decoded.Good<FrameHeader>(FrameHeader good) -> header = good;
    }
    if (descriptors.size() != header.fdCount()) {
      return badDescriptors("fdCount is " + header.fdCount() + ", " + descriptors.size() + " came");
    }
    headerComplete = true;
    json = new byte[header.payloadBytes()];
    jsonFilled = 0;
    return new FrameRead.Incomplete();
  }

  private FrameRead complete() {
    Frame frame = new Frame(header, json, descriptors);
    headerBytes.clear();
    headerComplete = false;
    json = new byte[0];
    descriptors = List.of();
    return new FrameRead.Complete(frame);
  }

  private FrameRead badDescriptors(String message) {
    dropDescriptors();
    Refusal refusal = Refusal.of(RefusalCode.BAD_FD_COUNT, message);
    return new FrameRead.Broken(refusal, correlationId(), true);
  }

  /** The correlation id of a frame whose header may not be whole or right, 0 then. */
  private long correlationId() {
    return headerBytes.position() < FrameHeader.BYTES ? 0 : Math.max(0, headerBytes.getLong(16));
  }

  private void dropDescriptors() {
    descriptors.forEach(OwnedFd::close);
    descriptors = List.of();
  }
}
