package io.orbitkv.manager.endpoint;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.client.control.Cleanup;
import io.orbitkv.client.control.Empty;
import io.orbitkv.client.control.Frame;
import io.orbitkv.client.control.FrameRead;
import io.orbitkv.client.control.FrameReader;
import io.orbitkv.client.control.FrameType;
import io.orbitkv.client.control.FrameWriter;
import io.orbitkv.client.control.Hello;
import io.orbitkv.client.control.Register;
import io.orbitkv.client.control.Unregister;
import io.orbitkv.core.Inspection;
import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.Memfd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.UnixSocket;
import io.orbitkv.manager.Engine;
import io.orbitkv.manager.RunningDaemon;
import io.orbitkv.manager.config.Setting;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Mutated control frames from peers without any manners: each gets a typed refusal or a closed
 * connection, nobody else notices, and nothing is left behind.
 */
class HostileFramesTest {
  private static final long SEED = Long.getLong("orbitkv.seed", 20_260_101);
  private static final int FRAMES = Boolean.getBoolean("orbitkv.long") ? 50_000 : 400;
  private static final List<FrameType> TYPES = List.of(FrameType.values());
  private static final long TIMEOUT_NANOS = 3_000_000_000L;

  @TempDir private Path folder;

  @Test
  void shouldRefuseMutatedFramesAndForgetThem() throws Exception {
    System.out.printf(
        "%d mutated frames, seed %d; again with -Dtest=HostileFramesTest -Dorbitkv.seed=%d%n",
        FRAMES, SEED, SEED);
    Random random = new Random(SEED);
    try (RunningDaemon running = new RunningDaemon(folder);
        Engine bystander = new Engine(running.clientOptions(), "bystander")) {
      int descriptors = openDescriptors();
      int answered = 0;
      for (int i = 0; i < FRAMES; i++) {
        answered += attack(running.socket(), random) ? 1 : 0;
        if (i % 16 == 0) {
          assertTrue(bystander.client.ping().orThrow() > 0, "frame " + i);
        }
      }
      assertTrue(answered > FRAMES / 4, answered + " of " + FRAMES + " were answered");
      eventually(() -> sessions(running) == 1, () -> sessions(running) + " sessions");
      eventually(
          () -> openDescriptors() <= descriptors,
          () -> openDescriptors() + " descriptors, " + descriptors + " before");
    }
  }

  @Test
  void shouldDropAPeerThatDoesNotSayHello() throws Exception {
    try (RunningDaemon running = new RunningDaemon(folder, Map.of(Setting.HELLO_TIMEOUT, "300ms"));
        UnixSocket silent = UnixSocket.connect(running.socket(), TIMEOUT_NANOS);
        UnixSocket slow = UnixSocket.connect(running.socket(), TIMEOUT_NANOS);
        FrameReader silentReader = new FrameReader(silent);
        FrameReader slowReader = new FrameReader(slow)) {
      long start = System.nanoTime();
      send(slow, new byte[] {'O', 'K', 'V'}, List.of());
      assertTrue(read(silent, silentReader, 3) instanceof FrameRead.Ended);
      assertTrue(read(slow, slowReader, 3) instanceof FrameRead.Ended);
      assertTrue(System.nanoTime() - start > 200_000_000L);
    }
  }

  @Test
  void shouldServeOthersWhileManyConnectionsAreOpen() throws Exception {
    List<UnixSocket> crowd = new ArrayList<>();
    try (RunningDaemon running = new RunningDaemon(folder)) {
      try {
        for (int i = 0; i < 200; i++) {
          UnixSocket one = UnixSocket.connect(running.socket(), TIMEOUT_NANOS);
          crowd.add(one);
          send(one, FrameWriter.encode(FrameType.HELLO, 1, hello(), 0), List.of());
        }
        try (Engine engine = new Engine(running.clientOptions(), "engine-a")) {
          assertTrue(engine.client.ping().orThrow() > 0);
        }
      } finally {
        crowd.forEach(UnixSocket::close);
      }
    }
  }

  /** Sends one mutated frame; whether a frame came back. */
  private static boolean attack(String socketPath, Random random) throws NativeException {
    List<OwnedFd> descriptors = new ArrayList<>();
    try (UnixSocket socket = UnixSocket.connect(socketPath, TIMEOUT_NANOS);
        FrameReader reader = new FrameReader(socket)) {
      if (random.nextInt(4) > 0) {
        send(socket, FrameWriter.encode(FrameType.HELLO, 1, hello(), 0), List.of());
        if (!(read(socket, reader, 3) instanceof FrameRead.Complete)) {
          throw new AssertionError("no HELLO_OK");
        }
      }
      int fdCount = random.nextInt(5) == 0 ? random.nextInt(4) : 0;
      FrameType type = TYPES.get(random.nextInt(TYPES.size()));
      byte[] frame = FrameWriter.encode(type, 1 + random.nextInt(100), json(type, random), fdCount);
      int sent = mutate(frame, random);
      for (int i = 0; i < (random.nextInt(3) == 0 ? random.nextInt(4) : fdCount); i++) {
        descriptors.add(
            random.nextBoolean()
                ? EventFd.create().descriptor()
                : Memfd.create("hostile", 1 << 18).descriptor());
      }
      send(socket, Arrays.copyOf(frame, sent), descriptors);
      socket.shutdownOutput();
      boolean answered = false;
      while (read(socket, reader, 3) instanceof FrameRead.Complete(Frame answer)) {
        answer.closeDescriptors();
        answered = true;
      }
      return answered;
    } catch (NativeException gone) {
      return false; // The daemon closed while we were still sending.
    } finally {
      descriptors.forEach(OwnedFd::close);
    }
  }

  private static byte[] hello() {
    return new Hello("hostile", List.of(1)).encode();
  }

  private static byte[] json(FrameType type, Random random) {
    return switch (type) {
      case REGISTER -> register(random);
      case CLEANUP -> new Cleanup("nobody", random.nextBoolean() ? null : 7L).encode();
      case UNREGISTER -> new Unregister(1 + random.nextInt(9)).encode();
      case HELLO -> hello();
      case HELLO_OK,
          REGISTERED,
          HEALTH,
          HEALTH_OK,
          SESSIONS,
          SESSIONS_OK,
          UNREGISTERED,
          CLEANED,
          REFUSED,
          CLOSING ->
          new Empty().encode();
    };
  }

  private static byte[] register(Random random) {
    return new Register(
            "hostile-" + random.nextInt(3),
            "hostile",
            new Register.Format("m", "i", "d", "l", new Register.Parallel(1, 1, 1, 0)),
            0,
            1,
            Register.Role.QUERY,
            null,
            List.of(
                new Register.Group(
                    0, Register.Component.MLA, 64, Register.Rule.PREFIX, null, false, 4096)),
            List.of(),
            List.of())
        .encode();
  }

  /** Changes some bytes; returns how many of the frame to send. */
  private static int mutate(byte[] frame, Random random) {
    int changes = random.nextInt(4);
    for (int i = 0; i < changes; i++) {
      int at = random.nextBoolean() ? random.nextInt(24) : random.nextInt(frame.length);
      frame[at] =
          switch (random.nextInt(3)) {
            case 0 -> (byte) random.nextInt(256);
            case 1 -> (byte) (frame[at] ^ 1 << random.nextInt(8));
            default -> (byte) (random.nextBoolean() ? 0 : 255);
          };
    }
    return random.nextInt(6) == 0 ? 1 + random.nextInt(frame.length) : frame.length;
  }

  private static void send(UnixSocket socket, byte[] bytes, List<OwnedFd> descriptors)
      throws NativeException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment segment = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
      socket.sendAll(segment, descriptors, TIMEOUT_NANOS);
    }
  }

  private static FrameRead read(UnixSocket socket, FrameReader reader, int limitSeconds)
      throws NativeException {
    while (true) {
      FrameRead read = reader.read();
      if (!(read instanceof FrameRead.Incomplete)) {
        return read;
      }
      if (!socket.awaitReadable(limitSeconds * 1_000_000_000L)) {
        throw new AssertionError("neither an answer nor the end within " + limitSeconds + " s");
      }
    }
  }

  private static int sessions(RunningDaemon running) {
    Inspection.SessionsAnswer answer =
        (Inspection.SessionsAnswer)
            running
                .daemon()
                .loop()
                .inspect(new Inspection.Sessions(), Duration.ofSeconds(2))
                .orElseThrow();
    return answer.sessions().size();
  }

  private static int openDescriptors() {
    try (Stream<Path> entries = Files.list(Path.of("/proc/self/fd"))) {
      return (int) entries.count();
    } catch (IOException unreadable) {
      throw new AssertionError(unreadable);
    }
  }

  private static void eventually(BooleanSupplier condition, Supplier<String> what)
      throws InterruptedException {
    long deadline = System.nanoTime() + 5_000_000_000L;
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, what);
      Thread.sleep(10);
    }
  }
}
