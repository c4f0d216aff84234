package io.orbitkv.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.client.PublishResult;
import io.orbitkv.ffi.FileSystemSpace;
import io.orbitkv.manager.config.Setting;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Totals.PoolCounter;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A daemon whose pool lies in a file of tmpfs. */
class PoolPersistTest {
  private static final int HEADER_BYTES = 2 << 20;
  private static final long HUGE_BYTES = (32 << 20) + HEADER_BYTES;

  @TempDir private Path folder;
  private Path shared;

  @BeforeEach
  void makeFolder() throws IOException {
    shared = Files.createTempDirectory(Path.of("/dev/shm"), "orbitkv-test");
  }

  @AfterEach
  void deleteFolder() throws IOException {
    try (Stream<Path> files = Files.list(shared)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(shared);
  }

  private RunningDaemon start() throws StartFailure {
    return new RunningDaemon(folder, Map.of(Setting.POOL_PERSIST, shared.toString()));
  }

  private Path poolFile() {
    return shared.resolve("orbitkv.pool");
  }

  private HostState fold() throws IOException {
    return KeptBlocks.fold(folder.resolve("journal"));
  }

  private static void publish(RunningDaemon running, int numbers) throws Exception {
    try (Engine engine = new Engine(running.clientOptions(), "engine-a")) {
      for (int number = 1; number <= numbers; number++) {
        KeptBlocks.fill(engine, number);
        assertInstanceOf(
            PublishResult.Published.class,
            engine.client.publish(Engine.publish("p", KeptBlocks.keys(number), 0)));
      }
    }
  }

  private static void awaitAdoption(RunningDaemon running) throws InterruptedException {
    long deadline = System.nanoTime() + 10_000_000_000L;
    while (running.daemon().adoption().waitingBlocks() > 0) {
      assertTrue(System.nanoTime() < deadline, "adopts within 10 s");
      Thread.sleep(5);
    }
  }

  @Test
  void shouldAdoptItsBlocksAfterAnOrderlyStop() throws Exception {
    try (RunningDaemon running = start()) {
      publish(running, 20);
      running.stop();
      assertEquals(20 * KeptBlocks.EACH, fold().sealedBlocks());
      running.startAgain();
      try (Engine engine = new Engine(running.clientOptions(), "engine-a")) {
        for (int number = 1; number <= 20; number++) {
          assertEquals(KeptBlocks.EACH, KeptBlocks.restored(engine, number));
        }
      }
      awaitAdoption(running);
      assertEquals(20 * KeptBlocks.EACH, running.daemon().adoption().adoptedBlocks());
      running.stop();
      HostState state = fold();
      assertEquals(20 * KeptBlocks.EACH, state.totals().get(PoolCounter.ADOPTED_BLOCKS));
      assertEquals(0, state.unverifiedBlocks());
      running.startAgain();
    }
  }

  @Test
  void shouldAdoptItsBlocksFromHugePages() throws Exception {
    Path huge = hugeFolder();
    try (RunningDaemon running =
        new RunningDaemon(folder, Map.of(Setting.POOL_PERSIST, huge.toString()))) {
      publish(running, 4);
      running.stop();
      running.startAgain();
      try (Engine engine = new Engine(running.clientOptions(), "engine-a")) {
        for (int number = 1; number <= 4; number++) {
          assertEquals(KeptBlocks.EACH, KeptBlocks.restored(engine, number));
        }
      }
      awaitAdoption(running);
      assertEquals(4 * KeptBlocks.EACH, running.daemon().adoption().adoptedBlocks());
      assertTrue(
          running.daemon().poolDescription().contains("huge"), running.daemon().poolDescription());
    } finally {
      Files.deleteIfExists(huge.resolve("orbitkv.pool"));
      Files.delete(huge);
    }
  }

  /** A folder of its own where huge pages are mounted; says why the test is left out otherwise. */
  private static Path hugeFolder() throws IOException {
    String why = "no hugetlbfs is mounted that this user may write";
    for (String mount : Files.readAllLines(Path.of("/proc/mounts"))) {
      String[] words = mount.split(" ", -1);
      Path path = Path.of(words[1]);
      if (!words[2].equals("hugetlbfs") || !Files.isWritable(path)) {
        continue;
      }
      long freeBytes = FileSystemSpace.ofPath(path.toString()).freeBytes();
      if (freeBytes >= HUGE_BYTES) {
        return Files.createTempDirectory(path, "orbitkv-test");
      }
      why = "%s has only %,d bytes of huge pages free".formatted(path, freeBytes);
    }
    System.out.println("PoolPersistTest: huge pages are not tried: " + why);
    return Assumptions.abort(why);
  }

  @Test
  void shouldMissAndReportABlockWithAFlippedByte() throws Exception {
    try (RunningDaemon running = start()) {
      publish(running, 2);
      running.stop();
      HostState state = fold();
      int slot =
          state.findSlot(1, 0, KeptBlocks.keys(2).packed(), KeptBlocks.keys(2).offset(5), 32);
      try (RandomAccessFile file = new RandomAccessFile(poolFile().toFile(), "rw")) {
        file.seek(HEADER_BYTES + state.extentOffset(slot, 0) + 1234);
        int before = file.read();
        file.seek(HEADER_BYTES + state.extentOffset(slot, 0) + 1234);
        file.write(before ^ 1);
      }
      running.startAgain();
      try (Engine engine = new Engine(running.clientOptions(), "engine-a")) {
        assertEquals(KeptBlocks.EACH, KeptBlocks.restored(engine, 1));
        assertEquals(5, KeptBlocks.restored(engine, 2));
      }
      awaitAdoption(running);
      assertEquals(1, running.daemon().adoption().damagedBlocks());
      assertEquals(2 * KeptBlocks.EACH - 1, running.daemon().adoption().adoptedBlocks());
    }
  }

  @Test
  void shouldBeginEmptyWithAnotherSize() throws Exception {
    try (RunningDaemon running = start()) {
      publish(running, 1);
    }
    Map<Setting, String> larger =
        Map.of(Setting.POOL_PERSIST, poolFile().toString(), Setting.POOL_SIZE, "40mb");
    try (RunningDaemon running = new RunningDaemon(folder, larger)) {
      assertEquals((40L << 20) + HEADER_BYTES, Files.size(poolFile()));
      try (Engine engine = new Engine(running.clientOptions(), "engine-a")) {
        assertEquals(0, KeptBlocks.restored(engine, 1));
      }
      assertEquals(0, running.daemon().adoption().keptBlocks());
    }
    try (RunningDaemon running = new RunningDaemon(folder)) {
      assertTrue(!running.daemon().poolId().keeps());
    }
    assertEquals(0, fold().poolIdHigh());
    try (RunningDaemon running = new RunningDaemon(folder, larger)) {
      assertEquals(0, running.daemon().adoption().keptBlocks());
    }
  }

  @Test
  void shouldRefuseWhatItCannotKeepAPoolIn() throws Exception {
    try (RunningDaemon running = start()) {
      assertTrue(running.daemon().poolId().keeps());
      assertRefused(poolFile(), "in use by another process");
    }
    assertRefused(Path.of("/proc/orbitkv.pool"), "is on a disk");
    Path foreign = Files.writeString(shared.resolve("foreign"), "x".repeat(8192));
    Files.setPosixFilePermissions(foreign, PosixFilePermissions.fromString("rw-------"));
    assertRefused(foreign, "not a pool of OrbitKV");
    assertEquals(8192, Files.size(foreign));
  }

  private void assertRefused(Path path, String why) throws IOException {
    Path other = Files.createTempDirectory(folder, "other");
    StartFailure failure =
        assertThrows(
            StartFailure.class,
            () -> new RunningDaemon(other, Map.of(Setting.POOL_PERSIST, path.toString())));
    assertTrue(failure.toString().contains(why), failure.toString());
    assertTrue(!failure.remedy().isEmpty());
  }
}
