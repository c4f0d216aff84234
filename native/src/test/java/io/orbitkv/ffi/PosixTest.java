package io.orbitkv.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PosixTest {
  @TempDir private Path folder;

  @Test
  void shouldAllocateFileSpace() throws Exception {
    try (Memfd memfd = Memfd.create("allocated", 0)) {
      Posix.allocate(memfd.descriptor(), 4096, 8192);
      assertEquals(12_288, Memfd.sizeBytes(memfd.descriptor()));
      NativeException thrown =
          assertThrows(
              NativeException.class, () -> Posix.allocate(memfd.descriptor(), -4096, 4096));
      assertEquals("fallocate -- EINVAL", thrown.call() + " -- " + thrown.errno().symbol());
    }
  }

  @Test
  void shouldReserveSpaceBeyondTheEndOfAFile() throws Exception {
    Path file = folder.resolve("growing");
    Files.writeString(file, "short");
    Posix.reserve(file, 0, 1 << 20);
    assertEquals(5, Files.size(file));
    try (OwnedFd descriptor = FileCalls.openPath(file.toString(), FileCalls.O_RDONLY)) {
      assertTrue(FileStat.of(descriptor.fd()).allocatedBytes() >= 1 << 20);
    }
    NativeException thrown =
        assertThrows(NativeException.class, () -> Posix.reserve(folder.resolve("absent"), 0, 4096));
    assertEquals(Errno.ENOENT, thrown.errno());
  }

  @Test
  void shouldReportThatADiskIsFull() throws Exception {
    Path disk = Path.of("/dev/shm");
    assumeTrue(Files.isDirectory(disk), "needs /dev/shm");
    Path file = Files.createTempFile(disk, "orbitkv", ".full");
    try {
      // More than the file system can ever hold is refused at once, without taking any of it.
      long tooMuch = FileSystemSpace.ofPath(disk.toString()).totalBytes() + (1 << 20);
      NativeException thrown =
          assertThrows(NativeException.class, () -> Posix.reserve(file, 0, tooMuch));
      assertEquals(Errno.ENOSPC, thrown.errno());
      assertEquals("fallocate", thrown.call());
    } finally {
      Files.delete(file);
    }
  }

  @Test
  void shouldCopyMemory() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment from = arena.allocate(100_000);
      for (long i = 0; i < from.byteSize(); i++) {
        from.set(ValueLayout.JAVA_BYTE, i, (byte) i);
      }
      MemorySegment to = arena.allocate(100_001);
      Posix.memcpy(to, from);
      assertEquals(-1, to.asSlice(0, 100_000).mismatch(from));
      assertThrows(IllegalArgumentException.class, () -> Posix.memcpy(from, to));
    }
  }

  @Test
  void shouldPinAThread() throws Exception {
    FutureTask<Integer> pinned =
        new FutureTask<>(
            () -> {
              Posix.pinThread(List.of(0));
              assertThrows(NativeException.class, () -> Posix.pinThread(List.of(1023)));
              return 0;
            });
    Thread.ofPlatform().start(pinned);
    assertEquals(0, pinned.get());
  }

  @Test
  void shouldCountWhatAProcessHolds() throws Exception {
    ProcessUsage before = ProcessUsage.self();
    try (Memfd memfd = Memfd.create("held", 1 << 20);
        Mapping mapping = Mapping.shared(memfd.descriptor(), 0, 1 << 20, MapOptions.READ_WRITE)) {
      ProcessUsage during = ProcessUsage.self();
      assertEquals(before.openFiles() + 1, during.openFiles());
      assertTrue(mapping.segment().byteSize() > 0);
    }
    assertEquals(before.openFiles(), ProcessUsage.self().openFiles());
    assertEquals(
        before.openFiles(), ProcessUsage.of(ProcessHandle.current().pid()).openFiles() - 1);
    assertTrue(before.mappings() > 10);
    assertTrue(before.residentBytes() > 1 << 20);
  }

  @Test
  void shouldReportFileSystemSpace() throws Exception {
    FileSystemSpace space = FileSystemSpace.ofPath("/");
    assertTrue(space.totalBytes() > 0 && space.freeBytes() <= space.totalBytes());
    NativeException thrown =
        assertThrows(NativeException.class, () -> FileSystemSpace.ofPath("/nowhere/at/all"));
    assertEquals(Errno.ENOENT, thrown.errno());
  }
}
