package io.orbitkv.manager.endpoint;

import io.orbitkv.client.control.Closing;
import io.orbitkv.client.control.FrameReader;
import io.orbitkv.client.control.FrameType;
import io.orbitkv.client.control.FrameWriter;
import io.orbitkv.client.control.Refused;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.PeerCredentials;
import io.orbitkv.ffi.UnixSocket;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One connection of the control socket: what it is waiting for, until when, and what is still to be
 * sent. Control thread.
 */
final class ControlConnection {
  /** Frames that may wait to be sent: an answer and a notice. */
  private static final int MAX_OUTGOING = 4;

  /** A frame on its way out. */
  private static final class Outgoing {
    final byte[] frame;
    final List<OwnedFd> descriptors;
    final Runnable sent;
    int done;

    Outgoing(byte[] frame, List<OwnedFd> descriptors, Runnable sent) {
      this.frame = frame;
      this.descriptors = descriptors;
      this.sent = sent;
    }
  }

  final long id;
  final PeerCredentials peer;
  final UnixSocket socket;
  final FrameReader reader;

  /** The session that lives as long as this connection; 0 without. */
  long sessionId;

  /** The session it is attached to; 0 without. */
  long attachedTo;

  boolean greeted;

  /** The request that is with the loop; null when the next may be read. */
  @Nullable FrameType pending;

  long pendingCorrelationId;

  /** A notice to send once the pending request was answered. */
  @Nullable Closing deferredClosing;

  /**
   * When the connection is closed unless something happens before; {@link Long#MAX_VALUE} never.
   */
  long deadlineNanos;

  /** The epoll events it is watched for. */
  int watched;

  private final ArrayDeque<Outgoing> outgoing = new ArrayDeque<>();
  private boolean closeWhenSent;
  private boolean closed;

  ControlConnection(long id, UnixSocket socket, PeerCredentials peer, long deadlineNanos) {
    this.id = id;
    this.socket = socket;
    this.peer = peer;
    this.reader = new FrameReader(socket);
    this.deadlineNanos = deadlineNanos;
  }

  boolean closed() {
    return closed;
  }

  /** Whether nothing more is read: it is about to be closed. */
  boolean closing() {
    return closed || closeWhenSent;
  }

  boolean sending() {
    return !outgoing.isEmpty();
  }

  /** Answers the pending request. */
  void reply(FrameType type, byte[] json) throws NativeException {
    reply(type, json, List.of(), () -> {});
  }

  /**
   * Answers the pending request with descriptors.
   *
   * @param sent run when all of it was sent
   */
  void reply(FrameType type, byte[] json, List<OwnedFd> descriptors, Runnable sent)
      throws NativeException {
    pending = null;
    send(type, pendingCorrelationId, json, descriptors, sent);
  }

  /** Refuses the pending request. */
  void refuse(Refusal refusal, boolean closesNext) throws NativeException {
    refuse(refusal, pendingCorrelationId, closesNext);
  }

  void refuse(Refusal refusal, long correlationId, boolean closesNext) throws NativeException {
    pending = null;
    send(
        FrameType.REFUSED,
        correlationId,
        Refused.of(refusal, closesNext).encode(),
        List.of(),
        () -> {});
    closeWhenSent |= closesNext;
  }

  /** Says why it is closed, and closes it when that was sent. */
  void closeWith(Closing notice) throws NativeException {
    if (!closing()) {
      send(FrameType.CLOSING, 0, notice.encode(), List.of(), () -> {});
      closeWhenSent = true;
    }
  }

  /** Closes it when what waits was sent. */
  void closeWhenSent() {
    closeWhenSent = true;
  }

  /**
   * Sends what fits.
   *
   * @return whether the connection has nothing more to do and must be closed
   * @throws NativeException if the peer is gone
   */
  boolean flush() throws NativeException {
    for (Outgoing next; (next = outgoing.peekFirst()) != null; ) {
      try (Arena arena = Arena.ofConfined()) {
        int left = next.frame.length - next.done;
        MemorySegment bytes = arena.allocate(left);
        MemorySegment.copy(next.frame, next.done, bytes, ValueLayout.JAVA_BYTE, 0, left);
        int taken = socket.send(bytes, next.done == 0 ? next.descriptors : List.of());
        next.done += taken;
        if (next.done < next.frame.length) {
          if (taken == 0) {
            return false;
          }
          continue;
        }
      }
      outgoing.pollFirst();
      next.sent.run();
    }
    return closeWhenSent;
  }

  /** Gives everything back. Once. */
  void close() {
    if (!closed) {
      closed = true;
      reader.close();
      socket.close();
      outgoing.forEach(each -> each.sent.run());
      outgoing.clear();
    }
  }

  private void send(
      FrameType type, long correlationId, byte[] json, List<OwnedFd> descriptors, Runnable sent)
      throws NativeException {
    if (closed) {
      sent.run();
      return;
    }
    if (outgoing.size() == MAX_OUTGOING) {
      throw new IllegalStateException("connection " + id + " has answers that were not asked for");
    }
    byte[] frame = FrameWriter.encode(type, correlationId, json, descriptors.size());
    outgoing.addLast(new Outgoing(frame, descriptors, sent));
    flush();
  }
}
