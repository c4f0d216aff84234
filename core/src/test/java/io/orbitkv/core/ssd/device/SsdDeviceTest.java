package io.orbitkv.core.ssd.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.ffi.DiskFile;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.Memfd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.Seal;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Both real devices, held to one contract on a real disk. */
class SsdDeviceTest {
  private static final long FILE_BYTES = 16 << 20;
  private static final int DEPTH = 8;
  private static final long WAIT_NANOS = 10_000_000_000L;

  @TempDir Path dir;

  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open.reversed()) {
      each.close();
    }
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
  void shouldReadBackWhatItWrote(SsdBackend backend) throws Exception {
    long seed = System.nanoTime();
    String repeat = "seed " + seed + ": set it in shouldReadBackWhatItWrote";
    Random random = new Random(seed);
    Mapping pool = pool(32 << 20);
    SsdDevice device = device(backend, pool, 2);
    MemorySegment memory = pool.segment();
    int[] sizes = {4096, 8192, 69_632, 1 << 20, 4 << 20};
    for (int round = 0; round < 30; round++) {
      int bytes = sizes[random.nextInt(sizes.length)];
      int file = random.nextInt(2);
      long fileOffset = aligned(random, FILE_BYTES - bytes);
      long from = aligned(random, (16 << 20) - bytes);
      long to = (16 << 20) + aligned(random, (16 << 20) - bytes);
      for (int i = 0; i < bytes; i += 8) {
        memory.set(ValueLayout.JAVA_LONG, from + i, random.nextLong());
      }
      assertTrue(device.write(file, fileOffset, from, bytes, 7));
      assertEquals(List.of("7:" + bytes), ended(device, 1), repeat);
      assertTrue(device.read(file, fileOffset, to, bytes, -7));
      assertEquals(List.of("-7:" + bytes), ended(device, 1), repeat);
      assertEquals(-1, memory.asSlice(from, bytes).mismatch(memory.asSlice(to, bytes)), repeat);
    }
    assertEquals(0, device.inFlight());
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
  void shouldEndEveryOperationOnce(SsdBackend backend) throws Exception {
    SsdDevice device = device(backend, pool(1 << 20), 1);
    int operations = 2_000;
    BitSet seen = new BitSet();
    int[] queued = {0};
    while (seen.cardinality() < operations) {
      while (queued[0] < operations
          && device.read(
              0, 4096L * (queued[0] % 4_000), 4096L * (queued[0] % 256), 4096, queued[0])) {
        queued[0]++;
      }
      assertTrue(device.inFlight() <= DEPTH);
      device.await(WAIT_NANOS);
      device.poll(
          (token, result) -> {
            assertEquals(4096, result);
            assertFalse(seen.get((int) token), token + " ended twice");
            seen.set((int) token);
          });
    }
    assertEquals(0, device.inFlight());
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
  void shouldTakeNoMoreThanItsDepth(SsdBackend backend) throws Exception {
    SsdDevice device = device(backend, pool(1 << 20), 1);
    for (int i = 0; i < DEPTH; i++) {
      assertTrue(device.read(0, 0, 4096L * i, 4096, i));
    }
    assertFalse(device.read(0, 0, 0, 4096, 99));
    assertEquals(DEPTH, device.inFlight());
    assertEquals(DEPTH, ended(device, DEPTH).size());
    assertTrue(device.read(0, 0, 0, 4096, 99));
    assertEquals(List.of("99:4096"), ended(device, 1));
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
  void shouldTakeAMistakeForOne(SsdBackend backend) throws Exception {
    SsdDevice device = device(backend, pool(1 << 20), 1);
    long[][] mistakes = {
      {1, 0, 0, 4096},
      {-1, 0, 0, 4096},
      {0, 512, 0, 4096},
      {0, 0, 512, 4096},
      {0, 0, 0, 512},
      {0, 0, 0, 0},
      {0, 0, 0, -4096},
      {0, FILE_BYTES, 0, 4096},
      {0, -4096, 0, 4096},
      {0, 0, 1 << 20, 4096},
      {0, 0, -4096, 4096},
      {0, 0, 0, (4 << 20) + 4096},
    };
    for (long[] each : mistakes) {
      assertThrows(
          IllegalArgumentException.class,
          () -> device.read((int) each[0], each[1], each[2], (int) each[3], 1));
      assertThrows(
          IllegalArgumentException.class,
          () -> device.write((int) each[0], each[1], each[2], (int) each[3], 1));
    }
    assertEquals(0, device.inFlight());
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
  void shouldReportAShortReadAsItIs(SsdBackend backend) throws Exception {
    SsdDevice device = device(backend, pool(1 << 20), 1);
    try (DiskFile same = DiskFile.open(dir.resolve("0"))) {
      same.truncate(8192);
    }
    assertTrue(device.read(0, 4096, 0, 16_384, 1));
    assertTrue(device.read(0, 16_384, 0, 4096, 2));
    assertEquals(Set.of("1:4096", "2:0"), Set.copyOf(ended(device, 2)));
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
  void shouldReportWhatTheSystemRefuses(SsdBackend backend) throws Exception {
    Mapping pool = pool(1 << 20);
    try (Memfd sealed = Memfd.create("sealed", 4096)) {
      sealed.addSeals(Set.of(Seal.WRITE));
      Path path = Path.of("/proc/self/fd/" + sealed.descriptor().fd());
      try (DiskFile file = DiskFile.open(path);
          SsdDevice device = open(backend, List.of(file), pool)) {
        assertTrue(device.write(0, 0, 0, 4096, 1));
        assertEquals(List.of("1:-1"), ended(device, 1), "EPERM");
      }
    }
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
  void shouldWakeAndSleepNoLongerThanAsked(SsdBackend backend) throws Exception {
    SsdDevice device = device(backend, pool(1 << 20), 1);
    device.await(1);
    long start = System.nanoTime();
    device.await(20_000_000);
    long slept = System.nanoTime() - start;
    assertTrue(slept < WAIT_NANOS / 2, slept + " ns");
    device.wake();
    assertAwakes(device, "woken before it slept");
    for (int i = 0; i < 200; i++) {
      Thread waker = Thread.ofPlatform().start(device::wake);
      assertAwakes(device, "woken, round " + i);
      waker.join();
      device.await(0);
    }
    Thread waker =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    Thread.sleep(30);
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                  device.wake();
                });
    assertAwakes(device, "woken asleep");
    waker.join();
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
  void shouldEndWhatIsInFlightWhenItIsClosed(SsdBackend backend) throws Exception {
    Mapping pool = pool(32 << 20);
    SsdDevice device = device(backend, pool, 1);
    for (int i = 0; i < DEPTH; i++) {
      assertTrue(device.read(0, 0, (long) i << 22, 4 << 20, i));
    }
    device.close();
    assertEquals(0, device.inFlight());
    pool.segment().fill((byte) 1);
    Thread.sleep(20);
    assertEquals(-1, pool.segment().asSlice(1).mismatch(pool.segment().asSlice(0, (32 << 20) - 1)));
    device.close();
  }

  @Test
  void shouldRegisterThePoolPieceByPiece() throws Exception {
    Mapping pool = pool(80 << 20);
    UringDevice device = (UringDevice) device(SsdBackend.URING, pool, 1);
    assertEquals("", device.registrationRefusal());
    assertEquals(32 << 20, device.registeredBytes());
    long acrossPieces = (32 << 20) - 4096;
    for (long registered : new long[] {32 << 20, 64 << 20, 80 << 20}) {
      assertEquals(registered, device.registeredBytes());
      for (long offset : new long[] {0, acrossPieces, (80 << 20) - 8192}) {
        assertTrue(device.write(0, 0, offset, 8192, 1));
        assertTrue(device.read(0, 0, offset, 8192, 2));
        assertEquals(2, ended(device, 2).stream().filter(each -> each.endsWith(":8192")).count());
      }
      device.await(1_000_000); // Nothing is in flight: registers instead of sleeping.
    }
    assertFalse(device.registerNext());
  }

  @Test
  void shouldNameWhatIsInFlight() {
    Slots slots = new Slots(20);
    for (int i = 0; i < 20; i++) {
      assertTrue(slots.take(100 + i) >= 0);
    }
    assertEquals(-1, slots.take(1));
    assertEquals(103, slots.release(3));
    assertThrows(IllegalStateException.class, () -> slots.release(3));
    assertTrue(
        slots.describe().startsWith("19 operations in flight, tokens [100, 101, 102, 104,"),
        slots.describe());
    assertTrue(slots.describe().endsWith("] and more"));
  }

  private static void assertAwakes(SsdDevice device, String when) {
    long start = System.nanoTime();
    device.await(WAIT_NANOS);
    assertTrue(System.nanoTime() - start < WAIT_NANOS / 2, when);
  }

  /** Waits for so many operations to end. */
  private static List<String> ended(SsdDevice device, int count) {
    List<String> ended = new ArrayList<>();
    long deadline = System.nanoTime() + WAIT_NANOS;
    while (ended.size() < count && System.nanoTime() < deadline) {
      device.await(WAIT_NANOS);
      device.poll((token, result) -> ended.add(token + ":" + result));
    }
    return ended;
  }

  private static long aligned(Random random, long most) {
    return 4096 * random.nextLong(most / 4096 + 1);
  }

  private Mapping pool(long bytes) throws NativeException {
    Mapping pool = Mapping.anonymous(bytes, MapOptions.READ_WRITE);
    open.add(pool);
    return pool;
  }

  private SsdDevice device(SsdBackend backend, Mapping pool, int count) throws Exception {
    List<SsdFileSpec> specs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      specs.add(new SsdFileSpec(dir.resolve(Integer.toString(i)), FILE_BYTES));
    }
    if (!(SsdFiles.open(specs, new UUID(1, 2)) instanceof SsdOpening.Opened(SsdFiles files))) {
      throw new AssertionError("the files cannot be opened");
    }
    open.add(files);
    SsdDevice device = open(backend, files.files(), pool);
    open.add(device);
    return device;
  }

  private static SsdDevice open(SsdBackend backend, List<DiskFile> files, Mapping pool)
      throws NativeException {
    return switch (backend) {
      case URING, AUTO -> UringDevice.open(files, pool.segment(), DEPTH);
      case POSIX -> PosixDevice.open(files, pool.segment(), DEPTH, 4);
    };
  }
}
