package io.orbitkv.client.contract;

import io.orbitkv.client.control.Frame;
import io.orbitkv.client.control.FrameRead;
import io.orbitkv.client.control.FrameReader;
import io.orbitkv.client.control.FrameType;
import io.orbitkv.client.control.FrameWriter;
import io.orbitkv.client.control.Hello;
import io.orbitkv.client.control.Refused;
import io.orbitkv.client.control.Register;
import io.orbitkv.client.control.Registered;
import io.orbitkv.client.wire.ArenaSlots;
import io.orbitkv.client.wire.ChannelGeometry;
import io.orbitkv.client.wire.Completion;
import io.orbitkv.client.wire.CompletionRing;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.RingRead;
import io.orbitkv.client.wire.Submission;
import io.orbitkv.client.wire.SubmissionRing;
import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.UnixSocket;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A client without any manners: it sends what a test tells it to send. */
public final class RawSession implements Closeable {
  private static final long TIMEOUT_NANOS = 3_000_000_000L;

  private final UnixSocket socket;
  private final FrameReader reader;
  private long correlationId;

  /** A connection after HELLO. */
  public RawSession(ManagerUnderTest manager) throws NativeException {
    socket = UnixSocket.connect(manager.socketPath(), TIMEOUT_NANOS);
    reader = new FrameReader(socket);
    Frame answer = call(FrameType.HELLO, new Hello("raw", List.of(1)).encode(), List.of());
    require(answer, FrameType.HELLO_OK);
  }

  /** Sends a request and reads one frame. */
  public Frame call(FrameType type, byte[] json, List<OwnedFd> fds) throws NativeException {
    FrameWriter.send(socket, type, ++correlationId, json, fds, TIMEOUT_NANOS);
    if (read() instanceof FrameRead.Complete(Frame frame)) {
      return frame;
    }
    throw new AssertionError("no reply to " + type);
  }

  /** The next frame, or the end of the connection. */
  public FrameRead read() throws NativeException {
    while (true) {
      FrameRead read = reader.read();
      if (!(read instanceof FrameRead.Incomplete)) {
        return read;
      }
      if (!socket.awaitReadable(TIMEOUT_NANOS)) {
        throw new AssertionError("nothing came in time");
      }
    }
  }

  /** The refusal in a frame. */
  public static Refused refused(Frame frame) {
    require(frame, FrameType.REFUSED);
    if (Refused.decode(frame.json()) instanceof Decoded.Good<Refused>(Refused refused)) {
      return refused;
    }
    throw new AssertionError("a REFUSED that cannot be read");
  }

  /** Registers and maps the channel. */
  public Channel register(Register register, List<OwnedFd> buffers) throws NativeException {
    Frame frame = call(FrameType.REGISTER, register.encode(), buffers);
    require(frame, FrameType.REGISTERED);
    if (Registered.decode(frame.json()) instanceof Decoded.Good<Registered>(Registered answer)) {
      return new Channel(answer, frame.descriptors());
    }
    throw new AssertionError("a REGISTERED that cannot be read");
  }

  @Override
  public void close() {
    reader.close();
    socket.close();
  }

  private static void require(Frame frame, FrameType type) {
    if (frame.header().type() != type.code()) {
      throw new AssertionError(
          "not " + type + ": " + new String(frame.json(), StandardCharsets.UTF_8));
    }
  }

  /** The channel of a session, without checks of its own. */
  public static final class Channel implements Closeable {
    private final Registered registered;
    private final Mapping mapping;
    private final EventFd doorbell;
    private final EventFd signal;
    private final SubmissionRing.Producer submissions;
    private final CompletionRing.Consumer completions;
    private final ArenaSlots slots;
    private long requestId;

    private Channel(Registered registered, List<OwnedFd> fds) throws NativeException {
      this.registered = registered;
      ChannelGeometry geometry = registered.channel();
      mapping = Mapping.shared(fds.get(0), 0, geometry.bytes(), MapOptions.READ_WRITE);
      fds.get(0).close();
      doorbell = EventFd.adopt(fds.get(1));
      signal = EventFd.adopt(fds.get(2));
      submissions = new SubmissionRing.Producer(mapping.segment(), geometry);
      completions = new CompletionRing.Consumer(mapping.segment(), geometry);
      slots = new ArenaSlots(mapping.segment(), geometry);
    }

    /** What was registered. */
    public Registered registered() {
      return registered;
    }

    /** The memory. */
    public Mapping mapping() {
      return mapping;
    }

    /** The slots. */
    public ArenaSlots slots() {
      return slots;
    }

    /** The next request id. */
    public long nextId() {
      return ++requestId;
    }

    /** Whether a descriptor fits. */
    public boolean hasRoom() {
      return submissions.hasRoom();
    }

    /** Submits and rings. */
    public void submit(Submission submission) throws NativeException {
      submissions.submit(submission);
      doorbell.signal();
    }

    /** Rings. */
    public void ring() throws NativeException {
      doorbell.signal();
    }

    /** Waits for the next completion. */
    public void take(Completion into) throws NativeException {
      long deadline = System.nanoTime() + TIMEOUT_NANOS;
      while (completions.take(into) != RingRead.TAKEN) {
        if (!signal.await(deadline - System.nanoTime())) {
          throw new AssertionError("no completion in time");
        }
        signal.drain();
      }
      completions.commit();
    }

    @Override
    public void close() throws IOException {
      mapping.close();
      doorbell.close();
      signal.close();
    }
  }
}
