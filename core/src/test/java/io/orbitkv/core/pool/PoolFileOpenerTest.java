package io.orbitkv.core.pool;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.pool.PoolRefusal.Cause;
import io.orbitkv.ffi.FileSystemSpace;
import io.orbitkv.ffi.MapOptions;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a pool's file is taken for, and what is refused. */
class PoolFileOpenerTest {
  private static final long BYTES = 1 << 20;
  private static final UUID FIRST = new UUID(1, 1);
  private static final UUID SECOND = new UUID(2, 2);

  private Path folder = Path.of("");

  @BeforeEach
  void makeFolder() throws IOException {
    folder = Files.createTempDirectory(Path.of("/dev/shm"), "orbitkv-test");
  }

  @AfterEach
  void deleteFolder() throws IOException {
    for (Path file : files()) {
      Files.delete(file);
    }
    Files.delete(folder);
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.toList();
    }
  }

  private Path file() {
    return folder.resolve(PoolFile.NAME);
  }

  private static PoolOpening open(Path path, long bytes, long lastEpoch, UUID freshId) {
    return new PoolFileOpener(path, bytes, lastEpoch, MapOptions.READ_WRITE, freshId).open();
  }

  private static PoolFile opened(Path path, long bytes, long lastEpoch, UUID freshId) {
    return assertInstanceOf(PoolOpening.Opened.class, open(path, bytes, lastEpoch, freshId)).file();
  }

  private static PoolRefusal refused(Path path, long bytes) {
    return assertInstanceOf(PoolOpening.Refused.class, open(path, bytes, 0, FIRST)).refusal();
  }

  @Test
  void shouldKeepWhatLiesInItForTheEpochAfter() {
    byte[] bytes = {3, 1, 4, 1, 5};
    try (PoolFile pool = opened(folder, BYTES, 0, FIRST)) {
      assertFalse(pool.freshBecause().isEmpty());
      assertEquals(BYTES, pool.memory().byteSize());
      pool.memory().asSlice(BYTES - 5).copyFrom(MemorySegment.ofArray(bytes));
    }
    try (PoolFile pool = opened(file(), BYTES, 1, SECOND)) {
      assertEquals("", pool.freshBecause());
      assertEquals(FIRST, pool.id());
      assertArrayEquals(bytes, pool.memory().asSlice(BYTES - 5).toArray(ValueLayout.JAVA_BYTE));
    }
  }

  @Test
  void shouldSetEveryPageAsideBeforeItIsUsed() throws Exception {
    try (PoolFile pool = opened(folder, BYTES, 0, FIRST)) {
      try (RandomAccessFile cut = new RandomAccessFile(pool.path().toFile(), "rw")) {
        cut.setLength(3 << 20); // which grows it by a hole
      }
    }
    try (PoolFile pool = opened(folder, 3 << 20, 1, SECOND)) {
      pool.memory().fill((byte) 1);
      assertEquals(SECOND, pool.id());
    }
  }

  @Test
  void shouldBeginAnewAfterAnotherJournalOrARunWithoutIt() {
    opened(folder, BYTES, 5, FIRST).close();
    try (PoolFile died = opened(folder, BYTES, 5, SECOND)) {
      assertEquals(FIRST, died.id(), "the start before died before its first fact");
    }
    try (PoolFile later = opened(folder, BYTES, 7, SECOND)) {
      assertTrue(later.freshBecause().contains("epoch 6"), later.freshBecause());
      assertEquals(SECOND, later.id());
    }
    try (PoolFile older = opened(folder, BYTES, 2, FIRST)) {
      assertTrue(older.freshBecause().contains("epoch 8"), older.freshBecause());
    }
  }

  @Test
  void shouldBeginAnewWithAnotherSizeOrADamagedHeader() throws Exception {
    opened(folder, BYTES, 0, FIRST).close();
    try (PoolFile larger = opened(folder, 2 * BYTES, 1, SECOND)) {
      assertTrue(larger.freshBecause().contains("held a pool of"), larger.freshBecause());
    }
    try (RandomAccessFile header = new RandomAccessFile(file().toFile(), "rw")) {
      header.seek(20);
      header.write(99);
    }
    try (PoolFile damaged = opened(folder, 2 * BYTES, 2, FIRST)) {
      assertTrue(damaged.freshBecause().contains("damaged"), damaged.freshBecause());
    }
  }

  @Test
  void shouldRefuseAFileThatIsInUseOrNotItsOwn() throws Exception {
    try (PoolFile pool = opened(folder, BYTES, 0, FIRST)) {
      assertEquals(Cause.IN_USE, refused(pool.path(), BYTES).cause());
    }
    Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-r--r--"));
    assertEquals(Cause.NOT_PRIVATE, refused(file(), BYTES).cause());
    Path foreign = Files.write(folder.resolve("foreign"), new byte[8192]);
    Files.setPosixFilePermissions(foreign, PosixFilePermissions.fromString("rw-------"));
    assertEquals(Cause.NOT_OURS, refused(foreign, BYTES).cause());
    assertEquals(8192, Files.size(foreign));
    assertEquals(Cause.BAD_PATH, refused(folder.resolve("none/pool"), BYTES).cause());
    assertEquals(Cause.NOT_MEMORY, refused(Path.of("/proc/pool"), BYTES).cause());
  }

  @Test
  void shouldLeaveNothingBehindWhereThereIsNoRoom() throws Exception {
    long tooMuch = FileSystemSpace.ofPath(folder.toString()).totalBytes() + (1L << 30);
    PoolRefusal refusal = refused(folder, tooMuch);
    assertEquals(Cause.NO_SPACE, refusal.cause());
    assertTrue(
        refusal.message().contains("bytes more, and its file system has "), refusal.message());
    assertEquals(List.of(), files());
  }
}
