package io.orbitkv.chaos.input;

import io.orbitkv.client.control.Cleanup;
import io.orbitkv.client.control.FrameHeader;
import io.orbitkv.client.control.FrameType;
import io.orbitkv.client.control.FrameWriter;
import io.orbitkv.client.control.Hello;
import io.orbitkv.client.control.Unregister;
import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.Memfd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.Seal;
import io.orbitkv.manager.workload.EngineShape;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Damaged control frames: headers, JSON, and descriptors that are too few, too many, or of the
 * wrong kind.
 */
final class ControlInput implements AutoCloseable {
  private static final long REPLY_MILLIS = 8_000;
  private static final int FRAMES_PER_CONNECTION = 24;

  private final String socket;
  private final Random random;
  private final Mutator mutator;
  private final Map<FrameType, byte[]> honest = new EnumMap<>(FrameType.class);
  private final List<OwnedFd> kinds = new ArrayList<>();
  private @Nullable RawControl connection;
  private int sentHere;

  long answered;
  long closed;

  ControlInput(String socket, Random random) throws NativeException {
    this.socket = socket;
    this.random = random;
    this.mutator = new Mutator(random);
    EngineShape shape = new EngineShape("hostile-frames", "hostile", 2, 1024, 16, 8);
    honest.put(FrameType.HELLO, new Hello("chaos", List.of(1)).encode());
    honest.put(FrameType.REGISTER, shape.register().encode());
    honest.put(FrameType.HEALTH, "{}".getBytes(StandardCharsets.UTF_8));
    honest.put(FrameType.SESSIONS, "{}".getBytes(StandardCharsets.UTF_8));
    honest.put(FrameType.UNREGISTER, new Unregister(1).encode());
    honest.put(FrameType.CLEANUP, new Cleanup("hostile-frames", null).encode());
    Memfd sealed = Memfd.create("sealed", shape.bufferBytes());
    sealed.addSeals(Set.of(Seal.SHRINK));
    Memfd small = Memfd.create("small", 4096);
    small.addSeals(Set.of(Seal.SHRINK));
    kinds.add(sealed.descriptor());
    kinds.add(small.descriptor());
    kinds.add(Memfd.create("unsealed", shape.bufferBytes()).descriptor());
    kinds.add(EventFd.create().descriptor());
  }

  /**
   * Sends one damaged frame and waits for what comes of it.
   *
   * @throws AssertionError if nothing does
   */
  void round() throws NativeException {
    RawControl control = connection;
    if (control == null || sentHere >= FRAMES_PER_CONNECTION) {
      control = reconnect();
    }
    List<FrameType> types = List.copyOf(honest.keySet());
    FrameType type = types.get(random.nextInt(types.size()));
    byte[] json = honest.get(type);
    if (json == null) {
      throw new IllegalStateException("no honest frame of " + type);
    }
    List<OwnedFd> fds = descriptors(type);
    boolean damageHeader = random.nextInt(4) == 0;
    byte[] body = damageHeader ? json : mutator.damageText(json);
    byte[] frame = FrameWriter.encode(type, 1 + random.nextInt(1_000), body, claimed(fds.size()));
    if (damageHeader) {
      byte[] header = mutator.damage(Arrays.copyOf(frame, FrameHeader.BYTES), 0, 0);
      System.arraycopy(header, 0, frame, 0, header.length);
    }
    boolean cut = random.nextInt(16) == 0;
    boolean sent =
        control.send(cut ? Arrays.copyOf(frame, 1 + random.nextInt(frame.length)) : frame, fds);
    sentHere++;
    boolean mayWaitForMore = cut || damageHeader || body.length < 2;
    if (!sent) {
      end();
    } else if (!mayWaitForMore) {
      settle(control);
    } else if (control.await(2) instanceof RawControl.Reply.Framed(var reply)) {
      answered++;
      reply.closeDescriptors();
    } else {
      end();
    }
  }

  private void settle(RawControl control) {
    switch (control.await(REPLY_MILLIS)) {
      case RawControl.Reply.Framed(var frame) -> {
        answered++;
        frame.closeDescriptors();
      }
      case RawControl.Reply.Closed _ -> end();
      case RawControl.Reply.Silence _ ->
          throw new AssertionError("a whole frame was neither answered nor ended");
    }
  }

  private void end() {
    closed++;
    RawControl control = connection;
    if (control != null) {
      control.close();
      connection = null;
    }
  }

  private RawControl reconnect() throws NativeException {
    RawControl old = connection;
    if (old != null) {
      old.close();
    }
    RawControl control = new RawControl(socket);
    connection = control;
    sentHere = 0;
    if (random.nextInt(8) != 0) {
      control.send(
          FrameWriter.encode(FrameType.HELLO, 1, new Hello("chaos", List.of(1)).encode(), 0),
          List.of());
      settle(control);
    }
    return control;
  }

  private List<OwnedFd> descriptors(FrameType type) {
    List<OwnedFd> fds = new ArrayList<>();
    int wanted = type == FrameType.REGISTER ? 1 : 0;
    int count = random.nextInt(4) == 0 ? random.nextInt(5) : wanted;
    for (int i = 0; i < count; i++) {
      fds.add(kinds.get(random.nextInt(3) == 0 ? random.nextInt(kinds.size()) : 0));
    }
    return fds;
  }

  private int claimed(int sent) {
    return random.nextInt(8) == 0 ? random.nextInt(70) : sent;
  }

  @Override
  public void close() {
    RawControl control = connection;
    if (control != null) {
      control.close();
    }
    kinds.forEach(OwnedFd::close);
  }
}
