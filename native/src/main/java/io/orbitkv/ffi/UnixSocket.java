package io.orbitkv.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A connected Unix stream socket that passes descriptors. Sending and receiving do not block; the
 * {@code All} forms wait, with a deadline.
 */
public final class UnixSocket implements AutoCloseable {
  /** The most descriptors that one send passes and one receive takes. */
  public static final int MAX_DESCRIPTORS = SocketMessage.MAX_DESCRIPTORS;

  private static final int SHUT_WR = 1;
  private static final int SHUT_RDWR = 2;
  private static final int UCRED_BYTES = 12;

  private final OwnedFd descriptor;

  UnixSocket(OwnedFd descriptor) {
    this.descriptor = descriptor;
  }

  /**
   * Connects to a listening socket.
   *
   * @param timeoutNanos how long to wait at most while the listener's backlog is full
   * @throws NativeException ENOENT if there is no such path, ECONNREFUSED if nobody listens there,
   *     EACCES if the mode forbids it, EAGAIN if the backlog stayed full, ENAMETOOLONG
   */
  public static UnixSocket connect(String path, long timeoutNanos) throws NativeException {
    int type = SocketCalls.SOCK_STREAM | SocketCalls.SOCK_CLOEXEC;
    OwnedFd fd =
        OwnedFd.adopt(
            NativeException.check("socket", SocketCalls.socket(SocketCalls.AF_UNIX, type), ""));
    try (Arena arena = Arena.ofConfined()) {
      // A nonblocking connect cannot be waited for on Unix sockets, but the send timeout bounds it.
      MemorySegment timeval = arena.allocate(16, 8);
      long micros = Math.max(1, timeoutNanos / 1_000);
      timeval.set(ValueLayout.JAVA_LONG, 0, micros / 1_000_000);
      timeval.set(ValueLayout.JAVA_LONG, 8, micros % 1_000_000);
      NativeException.verify(
          "setsockopt",
          SocketCalls.setsockopt(fd.fd(), SocketCalls.SOL_SOCKET, SocketCalls.SO_SNDTIMEO, timeval),
          "SO_SNDTIMEO");
      MemorySegment address = UnixAddress.encode(path, arena);
      int result;
      do {
        result = SocketCalls.connect(fd.fd(), address);
      } while (result == -Errno.EINTR.number());
      NativeException.verify("connect", result, path);
      NativeException.verify(
          "fcntl", FileCalls.fcntl(fd.fd(), FileCalls.F_SETFL, FileCalls.O_NONBLOCK), "F_SETFL");
      return new UnixSocket(fd);
    } catch (NativeException | RuntimeException failed) {
      fd.close();
      throw failed;
    }
  }

  /** Two sockets connected to each other. */
  public static List<UnixSocket> pair() throws NativeException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(8, 4);
      int type = SocketCalls.SOCK_STREAM | SocketCalls.SOCK_CLOEXEC | SocketCalls.SOCK_NONBLOCK;
      NativeException.verify(
          "socketpair", SocketCalls.socketpair(SocketCalls.AF_UNIX, type, out), "");
      return List.of(
          new UnixSocket(OwnedFd.adopt(out.get(ValueLayout.JAVA_INT, 0))),
          new UnixSocket(OwnedFd.adopt(out.get(ValueLayout.JAVA_INT, 4))));
    }
  }

  /**
   * Sends what fits now. Descriptors go with the first byte, so when a part was taken the rest is
   * sent without them.
   *
   * @param bytes native memory, not empty
   * @param descriptors at most {@link #MAX_DESCRIPTORS}; they stay open here
   * @return how many bytes were taken; 0 if it would block
   * @throws NativeException EPIPE or ECONNRESET if the peer is gone
   */
  public int send(MemorySegment bytes, List<OwnedFd> descriptors) throws NativeException {
    requireNotEmpty(bytes);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment header = SocketMessage.toSend(arena, bytes, descriptors).header();
      long result;
      do {
        result = SocketCalls.sendmsg(descriptor.fd(), header, SocketCalls.MSG_NOSIGNAL);
      } while (result == -Errno.EINTR.number());
      if (result == -Errno.EAGAIN.number()) {
        return 0;
      }
      return (int) NativeException.check("sendmsg", result, descriptor);
    }
  }

  /**
   * Sends all of it.
   *
   * @throws NativeException ETIMEDOUT if the peer did not take it in time, when a part may be sent
   */
  public void sendAll(MemorySegment bytes, List<OwnedFd> descriptors, long timeoutNanos)
      throws NativeException {
    long deadline = System.nanoTime() + timeoutNanos;
    long sent = 0;
    while (sent < bytes.byteSize()) {
      int taken = send(bytes.asSlice(sent), sent == 0 ? descriptors : List.of());
      sent += taken;
      if (taken == 0) {
        requireReady(PollCalls.POLLOUT, deadline);
      }
    }
  }

  /**
   * Receives what is there, up to the size of the buffer. It never joins bytes from before and
   * after passed descriptors.
   *
   * @param into native memory, not empty
   * @param maxDescriptors how many are expected at most, 0 to {@link #MAX_DESCRIPTORS}; a peer that
   *     sends more gets {@link Received.DescriptorsLost}
   * @throws NativeException ECONNRESET if the peer closed with our bytes unread
   */
  public Received receive(MemorySegment into, int maxDescriptors) throws NativeException {
    requireNotEmpty(into);
    try (Arena arena = Arena.ofConfined()) {
      SocketMessage message = SocketMessage.toReceive(arena, into, maxDescriptors);
      long result;
      do {
        result =
            SocketCalls.recvmsg(descriptor.fd(), message.header(), SocketCalls.MSG_CMSG_CLOEXEC);
      } while (result == -Errno.EINTR.number());
      if (result == -Errno.EAGAIN.number()) {
        return new Received.WouldBlock();
      }
      int bytes = (int) NativeException.check("recvmsg", result, descriptor);
      List<OwnedFd> descriptors = message.descriptors();
      if (message.controlTruncated() || descriptors.size() > maxDescriptors) {
        descriptors.forEach(OwnedFd::close);
        return new Received.DescriptorsLost(bytes, descriptors.size());
      }
      return bytes == 0 ? new Received.EndOfStream() : new Received.Data(bytes, descriptors);
    }
  }

  /**
   * Fills the buffer.
   *
   * @param maxDescriptors how many are expected at most in all
   * @return Data with every byte and descriptor; or EndOfStream or DescriptorsLost, with whatever
   *     came before it closed and dropped; never WouldBlock
   * @throws NativeException ETIMEDOUT if the peer did not send it in time
   */
  public Received receiveAll(MemorySegment into, int maxDescriptors, long timeoutNanos)
      throws NativeException {
    long deadline = System.nanoTime() + timeoutNanos;
    List<OwnedFd> descriptors = new ArrayList<>();
    int filled = 0;
    boolean complete = false;
    try {
      while (filled < into.byteSize()) {
        Received part = receive(into.asSlice(filled), maxDescriptors - descriptors.size());
        switch (part) {
          case Received.Data data -> {
            filled += data.bytes();
            descriptors.addAll(data.descriptors());
          }
          case Received.WouldBlock _ -> requireReady(PollCalls.POLLIN, deadline);
          case Received.EndOfStream end -> {
            return end;
          }
          case Received.DescriptorsLost lost -> {
            return new Received.DescriptorsLost(
                filled + lost.bytes(), descriptors.size() + lost.closedDescriptors());
          }
        }
      }
      complete = true;
      return new Received.Data(filled, descriptors);
    } finally {
      if (!complete) {
        descriptors.forEach(OwnedFd::close);
      }
    }
  }

  /**
   * Waits until bytes, the end of the stream or an error can be received.
   *
   * @return whether one can
   */
  public boolean awaitReadable(long timeoutNanos) throws NativeException {
    return await(PollCalls.POLLIN, timeoutNanos);
  }

  /** Who connected. */
  public PeerCredentials peerCredentials() throws NativeException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment credentials = arena.allocate(UCRED_BYTES, 4);
      NativeException.verify(
          "getsockopt", option(SocketCalls.SO_PEERCRED, credentials, arena), "SO_PEERCRED");
      return new PeerCredentials(
          credentials.get(ValueLayout.JAVA_INT, 0),
          credentials.get(ValueLayout.JAVA_INT, 4),
          credentials.get(ValueLayout.JAVA_INT, 8));
    }
  }

  /**
   * A descriptor of the peer's process that becomes readable when the process is gone; see {@link
   * PidFd}. Empty where the kernel offers none, or when the process is gone already.
   */
  public Optional<PidFd> peerProcess() throws NativeException {
    int result;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment fd = arena.allocate(4, 4);
      result = option(SocketCalls.SO_PEERPIDFD, fd, arena);
      if (result == 0) {
        return Optional.of(new PidFd(OwnedFd.adopt(fd.get(ValueLayout.JAVA_INT, 0))));
      }
    }
    // Linux before 6.5 has no such option; its answer by number is right as long as the peer lives.
    return result == -Errno.ENOPROTOOPT.number()
        ? PidFd.open(peerCredentials().pid())
        : Optional.empty();
  }

  /** Ends sending; the peer reads to the end of the stream. */
  public void shutdownOutput() throws NativeException {
    shutdown(SHUT_WR);
  }

  /** Ends both directions and wakes whoever waits on it; the descriptor stays open. */
  public void shutdown() throws NativeException {
    shutdown(SHUT_RDWR);
  }

  public OwnedFd descriptor() {
    return descriptor;
  }

  @Override
  public void close() {
    descriptor.close();
  }

  private int option(int name, MemorySegment value, Arena arena) {
    MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, (int) value.byteSize());
    return SocketCalls.getsockopt(descriptor.fd(), SocketCalls.SOL_SOCKET, name, value, length);
  }

  private void shutdown(int how) throws NativeException {
    NativeException.verify(
        "shutdown", SocketCalls.shutdown(descriptor.fd(), how), descriptor.toString());
  }

  private boolean await(short events, long timeoutNanos) throws NativeException {
    return NativeException.check(
            "ppoll", PollCalls.await(descriptor.fd(), events, timeoutNanos), descriptor.toString())
        > 0;
  }

  private void requireReady(short events, long deadline) throws NativeException {
    long left = deadline - System.nanoTime();
    if (left <= 0 || !await(events, left)) {
      throw new NativeException("ppoll", Errno.ETIMEDOUT, descriptor.toString());
    }
  }

  private static void requireNotEmpty(MemorySegment bytes) {
    if (bytes.byteSize() == 0 || bytes.byteSize() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("bad buffer size: " + bytes.byteSize());
    }
  }
}
