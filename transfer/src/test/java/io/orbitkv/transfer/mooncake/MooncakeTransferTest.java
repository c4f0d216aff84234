package io.orbitkv.transfer.mooncake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.orbitkv.ffi.Probe;
import io.orbitkv.transfer.Grant;
import io.orbitkv.transfer.Pattern;
import io.orbitkv.transfer.PeerEndpoint;
import io.orbitkv.transfer.PoolRange;
import io.orbitkv.transfer.RangeRead;
import io.orbitkv.transfer.Receipt;
import io.orbitkv.transfer.TransferFailure;
import io.orbitkv.transfer.TransferRead;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The backend for Mooncake against a double of its C API, and against a real one where it is. */
class MooncakeTransferTest {
  private static final long POOL_BYTES = 1 << 20;

  @TempDir Path folder;
  private final Arena arena = Arena.ofAuto();
  private final MemorySegment pool = Pattern.pool(arena, POOL_BYTES);
  private final MemorySegment landing = arena.allocate(POOL_BYTES, 4096);
  private Path file;
  private MooncakeTransferEngine source;
  private MooncakeTransferEngine reader;

  @BeforeEach
  void startTwo() throws Exception {
    file = compiled("double.c");
    MooncakeLibrary library = MooncakeLibrary.load(file);
    source = MooncakeTransferEngine.start(library, options(), pool);
    reader = MooncakeTransferEngine.start(library, options(), landing);
  }

  @AfterEach
  void closeBoth() throws Throwable {
    if (reader != null) {
      call("double_hold", 0);
      call("double_fail", 0);
      reader.close();
      source.close();
      assertEquals(0, reader.stats().bytesInFlight());
    }
  }

  @Test
  void shouldReadIntoPlace() throws Exception {
    PoolRange range = new PoolRange(4096, 100_000);
    TransferRead read = begin(range, Duration.ofSeconds(10));
    assertEquals(
        100_000, assertInstanceOf(Receipt.class, read.outcome().get(10, TimeUnit.SECONDS)).bytes());
    read.released().get(10, TimeUnit.SECONDS);
    assertEquals(-1, Pattern.mismatch(landing.asSlice(0, 100_000), range));
  }

  @Test
  void shouldKeepTheDestinationInQuarantineUntilTheTransferIsOver() throws Throwable {
    call("double_hold", 1);
    TransferRead read = begin(new PoolRange(0, 4096), Duration.ofMillis(50));
    assertInstanceOf(
        TransferFailure.DeadlinePassed.class, read.outcome().get(10, TimeUnit.SECONDS));
    Thread.sleep(50);
    assertFalse(read.released().isDone(), "the library may still write");
    assertEquals(1, reader.stats().readsInQuarantine());
    call("double_hold", 0);
    read.released().get(10, TimeUnit.SECONDS);
    assertEquals(0, reader.stats().readsInQuarantine());
  }

  @Test
  void shouldReleaseAllWhenClosed() throws Throwable {
    call("double_hold", 1);
    TransferRead read = begin(new PoolRange(0, 4096), Duration.ofSeconds(60));
    read.cancel();
    assertEquals(new TransferFailure.Cancelled(), read.outcome().get(1, TimeUnit.SECONDS));
    reader.close();
    assertTrue(read.released().isDone());
    assertInstanceOf(
        TransferFailure.Closed.class,
        begin(new PoolRange(0, 4096), Duration.ofSeconds(1)).outcome().join());
  }

  @Test
  void shouldTellFailuresOfTheLibrary() throws Throwable {
    call("double_fail", 1);
    TransferRead read = begin(new PoolRange(0, 4096), Duration.ofSeconds(10));
    assertInstanceOf(TransferFailure.PeerLost.class, read.outcome().get(10, TimeUnit.SECONDS));
    read.released().get(10, TimeUnit.SECONDS);
    PeerEndpoint nobody = new PeerEndpoint("127.0.0.1", 1, source.endpoint().runtime());
    TransferRead lost = begin(nobody, new PoolRange(0, 64), Duration.ofSeconds(10));
    assertInstanceOf(TransferFailure.Unreachable.class, lost.outcome().get(10, TimeUnit.SECONDS));
    lost.released().get(10, TimeUnit.SECONDS);
  }

  @Test
  void shouldRefuseMemoryThatIsNotRegistered() {
    PoolRange range = new PoolRange(0, 64);
    Grant grant = source.grants().open(List.of(range), Duration.ofMinutes(1)).orElseThrow();
    assertThrows(
        IllegalArgumentException.class,
        () ->
            reader.read(
                source.endpoint(),
                grant,
                List.of(new RangeRead(range, arena.allocate(64))),
                (index, of, bytes) -> true,
                Duration.ofSeconds(1)));
  }

  @Test
  void shouldCheckWhatTheLibraryDoesNot() {
    NativeEngine engine = NativeEngine.create(MooncakeLibrary.load(file), "127.0.0.1", true);
    assertThrows(IllegalStateException.class, () -> engine.status(77, 0));
    assertThrows(IllegalStateException.class, () -> engine.free(77));
    assertThrows(MooncakeException.class, () -> engine.register(MemorySegment.ofAddress(4096)));
    engine.destroy();
    engine.destroy();
    assertThrows(IllegalStateException.class, engine::name);
  }

  @Test
  void shouldSayThatALibraryNeedsPython() throws Exception {
    Path needs = folder.resolve("python.c");
    Files.writeString(
        needs,
        "extern int PyObject_Call(void); int createTransferEngine(void) { return PyObject_Call(); }");
    Probe probe = MooncakeLibrary.probe(compile(needs, folder.resolve("python.so")));
    assertFalse(probe.present());
    assertTrue(probe.remedy().contains("LD_PRELOAD=libpython"), probe.toString());
    assertFalse(MooncakeLibrary.probe(folder.resolve("none.so")).present());
  }

  @Test
  void shouldFindALibraryOnTheLibraryPath() throws IOException {
    Path found = Files.copy(file, folder.resolve(MooncakeLibrary.FILE_NAME));
    Map<String, String> environment = Map.of("LD_LIBRARY_PATH", folder.toString());
    assertEquals(found, MooncakeLibrary.candidates(environment).getFirst());
    assertTrue(MooncakeLibrary.discover(environment).present());
  }

  @Test
  void shouldReadThroughARealLibrary() throws Exception {
    Probe probe = MooncakeLibrary.discover(System.getenv());
    if (!probe.present()) {
      System.out.println("skipped: no Mooncake here: " + probe.detail());
    }
    assumeTrue(probe.present(), probe::detail);
    MooncakeLibrary library = MooncakeLibrary.load(Path.of(probe.detail()));
    try (MooncakeTransferEngine from = MooncakeTransferEngine.start(library, options(), pool);
        MooncakeTransferEngine to = MooncakeTransferEngine.start(library, options(), landing)) {
      PoolRange range = new PoolRange(8192, 65_536);
      TransferRead read =
          to.read(
              from.endpoint(),
              from.grants().open(List.of(range), Duration.ofMinutes(1)).orElseThrow(),
              List.of(new RangeRead(range, landing.asSlice(0, 65_536))),
              (index, of, bytes) -> Pattern.mismatch(bytes, of) < 0,
              Duration.ofSeconds(30));
      assertInstanceOf(Receipt.class, read.outcome().get(30, TimeUnit.SECONDS));
      read.released().get(30, TimeUnit.SECONDS);
    }
  }

  private TransferRead begin(PoolRange range, Duration deadline) {
    return begin(source.endpoint(), range, deadline);
  }

  private TransferRead begin(PeerEndpoint from, PoolRange range, Duration deadline) {
    Grant grant = source.grants().open(List.of(range), Duration.ofMinutes(1)).orElseThrow();
    return reader.read(
        from,
        grant,
        List.of(new RangeRead(range, landing.asSlice(0, range.length()))),
        (index, of, bytes) -> Pattern.mismatch(bytes, of) < 0,
        deadline);
  }

  private MooncakeTransferEngine.Options options() {
    return new MooncakeTransferEngine.Options(
        "127.0.0.1",
        true,
        UUID.randomUUID(),
        MooncakeTransferEngine.Options.VARIABLES,
        peer -> pool.address());
  }

  private void call(String function, int argument) throws Throwable {
    var unused =
        Linker.nativeLinker()
            .downcallHandle(
                SymbolLookup.libraryLookup(file, Arena.global()).findOrThrow(function),
                FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT))
            .invokeWithArguments(argument);
    assertEquals(null, unused);
  }

  private Path compiled(String name) throws IOException, InterruptedException {
    Path text = folder.resolve(name);
    try (InputStream in =
        Objects.requireNonNull(MooncakeTransferTest.class.getResourceAsStream(name))) {
      Files.copy(in, text);
    }
    return compile(text, folder.resolve("double.so"));
  }

  private static Path compile(Path text, Path library) throws IOException, InterruptedException {
    int rc = -1;
    String why = "";
    try {
      Process cc =
          new ProcessBuilder(
                  "cc", "-shared", "-fPIC", "-O1", "-o", library.toString(), text.toString())
              .inheritIO()
              .start();
      rc = cc.waitFor();
    } catch (IOException missing) {
      why = String.valueOf(missing.getMessage());
      System.out.println("skipped: no C compiler here: " + why);
    }
    String reason = why;
    assumeTrue(why.isEmpty(), () -> "no C compiler: " + reason);
    assertEquals(0, rc, "cc " + text);
    return library;
  }
}
