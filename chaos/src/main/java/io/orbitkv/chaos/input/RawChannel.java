package io.orbitkv.chaos.input;

import io.orbitkv.client.HostBuffer;
import io.orbitkv.client.control.Frame;
import io.orbitkv.client.control.FrameType;
import io.orbitkv.client.control.FrameWriter;
import io.orbitkv.client.control.Hello;
import io.orbitkv.client.control.Registered;
import io.orbitkv.client.wire.ArenaSlots;
import io.orbitkv.client.wire.ChannelGeometry;
import io.orbitkv.client.wire.ChannelLayout;
import io.orbitkv.client.wire.Completion;
import io.orbitkv.client.wire.CompletionRing;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.RingRead;
import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.manager.workload.EngineShape;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A registered session whose submission ring takes any 64 bytes. */
final class RawChannel implements AutoCloseable {
  private static final long SUBMISSION_TAIL = 1024;
  private static final long REPLY_MILLIS = 5_000;

  private static final int F_SETFL = 4;

  /** An eventfd's counter holds one less than all ones: the next write has to wait. */
  private static final long ALMOST_FULL = -2;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final MethodHandle FCNTL =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("fcntl"),
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT),
          Linker.Option.firstVariadicArg(2));
  private static final MethodHandle WRITE =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("write"),
          FunctionDescriptor.of(
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT,
              ValueLayout.ADDRESS,
              ValueLayout.JAVA_LONG));

  final RawControl control;
  final Registered registered;
  final ChannelGeometry geometry;
  final MemorySegment memory;
  final ArenaSlots slots;

  private final HostBuffer buffer;
  private final Mapping mapping;
  private final EventFd doorbell;
  private final EventFd signal;
  private final CompletionRing.Consumer completions;
  private final Completion completion = new Completion();
  private long tail;

  private RawChannel(RawControl control, HostBuffer buffer, Registered registered, Frame frame)
      throws NativeException {
    this.control = control;
    this.buffer = buffer;
    this.registered = registered;
    geometry = registered.channel();
    mapping =
        Mapping.shared(frame.descriptors().get(0), 0, geometry.bytes(), MapOptions.READ_WRITE);
    memory = mapping.segment();
    frame.descriptors().get(0).close();
    doorbell = EventFd.adopt(frame.descriptors().get(1));
    signal = EventFd.adopt(frame.descriptors().get(2));
    slots = new ArenaSlots(memory, geometry);
    completions = new CompletionRing.Consumer(memory, geometry);
  }

  /** Registers honestly. */
  static RawChannel open(String socket, EngineShape shape) throws NativeException {
    RawControl control = new RawControl(socket);
    HostBuffer buffer = HostBuffer.create("orbitkv-chaos", shape.bufferBytes());
    control.send(
        FrameWriter.encode(FrameType.HELLO, 1, new Hello("chaos", List.of(1)).encode(), 0),
        List.of());
    Frame hello = control.frame(REPLY_MILLIS);
    control.send(
        FrameWriter.encode(FrameType.REGISTER, 2, shape.register().encode(), 1),
        List.of(buffer.descriptor()));
    Frame answer = control.frame(REPLY_MILLIS);
    if (hello == null
        || answer == null
        || !(Registered.decode(answer.json())
            instanceof Decoded.Good<Registered>(Registered registered))) {
      buffer.close();
      control.close();
      throw new AssertionError(
          "an honest registration failed: "
              + (answer == null ? "no answer" : new String(answer.json(), StandardCharsets.UTF_8)));
    }
    return new RawChannel(control, buffer, registered, answer);
  }

  /** Puts 64 bytes in the ring with the right sequence, unless they bring their own, and rings. */
  void submit(byte[] descriptor, boolean ownSequence) throws NativeException {
    long at =
        geometry.submissionOffset() + (tail % geometry.entries()) * ChannelLayout.DESCRIPTOR_BYTES;
    MemorySegment.copy(descriptor, 0, memory, ValueLayout.JAVA_BYTE, at, descriptor.length);
    if (!ownSequence) {
      memory.set(ValueLayout.JAVA_LONG, at + 8, tail);
    }
    tail++;
    VarHandle.releaseFence();
    memory.set(ValueLayout.JAVA_LONG, SUBMISSION_TAIL, tail);
    VarHandle.fullFence();
    doorbell.signal();
  }

  /** Moves the tail without writing anything. */
  void forgeTail(long value) throws NativeException {
    memory.set(ValueLayout.JAVA_LONG, SUBMISSION_TAIL, value);
    VarHandle.fullFence();
    doorbell.signal();
  }

  enum Outcome {
    ANSWERED,
    CLOSED,
    SILENT
  }

  /** Waits for one completion or for the end of the session. */
  Outcome await(long millis) throws NativeException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (System.nanoTime() < deadline) {
      RingRead read = completions.take(completion);
      if (read == RingRead.TAKEN) {
        completions.commit();
        return Outcome.ANSWERED;
      }
      var _ = signal.await(TimeUnit.MILLISECONDS.toNanos(20));
      signal.drain();
      if (completions.take(completion) == RingRead.TAKEN) {
        completions.commit();
        return Outcome.ANSWERED;
      }
      if (closed()) {
        return Outcome.CLOSED;
      }
    }
    return Outcome.SILENT;
  }

  /** Makes the eventfd that the daemon writes blocking, and fills its counter. */
  void holdUpSignal() {
    int fd = signal.descriptor().fd();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment most = arena.allocateFrom(ValueLayout.JAVA_LONG, ALMOST_FULL);
      if ((int) FCNTL.invokeExact(fd, F_SETFL, 0) != 0
          || (long) WRITE.invokeExact(fd, most, (long) Long.BYTES) != Long.BYTES) {
        throw new AssertionError("the eventfd could not be filled");
      }
    } catch (RuntimeException | Error unchecked) {
      throw unchecked;
    } catch (Throwable impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** Whether the daemon has taken the counter's fill away. */
  boolean signalIsFull() throws NativeException {
    return signal.isFull();
  }

  /** Takes completions that are there. */
  void drain() {
    while (completions.take(completion) == RingRead.TAKEN) {
      completions.commit();
    }
  }

  /** Whether the daemon has ended the session. */
  boolean closed() {
    return switch (control.await(0)) {
      case RawControl.Reply.Closed _ -> true;
      case RawControl.Reply.Framed(Frame frame) ->
          frame.header().type() == FrameType.CLOSING.code();
      case RawControl.Reply.Silence _ -> false;
    };
  }

  /** Waits until the daemon has ended the session; false if it does not. */
  boolean awaitClosed(long millis) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    do {
      boolean over =
          switch (control.await(50)) {
            case RawControl.Reply.Closed _ -> true;
            case RawControl.Reply.Framed(Frame frame) ->
                frame.header().type() == FrameType.CLOSING.code();
            case RawControl.Reply.Silence _ -> false;
          };
      if (over) {
        return true;
      }
    } while (System.nanoTime() < deadline);
    return false;
  }

  Completion completion() {
    return completion;
  }

  @Override
  public void close() {
    control.close();
    doorbell.close();
    signal.close();
    mapping.close();
    buffer.close();
  }
}
