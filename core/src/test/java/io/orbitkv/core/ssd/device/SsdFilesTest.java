package io.orbitkv.core.ssd.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.ssd.device.SsdRefusal.Cause;
import io.orbitkv.ffi.DirectIo;
import io.orbitkv.ffi.FileSystemSpace;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SsdFilesTest {
  private static final UUID FIRST = new UUID(1, 1);
  private static final UUID SECOND = new UUID(2, 2);
  private static final long BYTES = 1 << 20;

  @TempDir Path dir;

  @Test
  void shouldBeginATierAndContinueIt() throws Exception {
    try (SsdFiles files = opened(FIRST, spec("a"), spec("b"))) {
      assertEquals(FIRST, files.tierId());
      assertTrue(files.fresh());
      assertTrue(files.freshBecause().endsWith("a was not there"), files.freshBecause());
      assertEquals(2, files.count());
      assertEquals(BYTES, files.bytes(1));
      assertEquals(2 * (BYTES - 4096), files.capacityBytes());
      assertEquals(BYTES, Files.size(dir.resolve("a")));
      assertTrue((long) Files.getAttribute(dir.resolve("a"), "unix:size") == BYTES);
      assertEquals("rw-------", permissions(dir.resolve("a")));
    }
    try (SsdFiles files = opened(SECOND, spec("a"), spec("b"))) {
      assertEquals(FIRST, files.tierId());
      assertFalse(files.fresh());
    }
  }

  @Test
  void shouldContinueATierThatIsMadeLarger() throws Exception {
    opened(FIRST, spec("a")).close();
    SsdFileSpec larger = new SsdFileSpec(dir.resolve("a"), 2 * BYTES);
    try (SsdFiles files = opened(SECOND, larger)) {
      assertEquals(FIRST, files.tierId());
      assertEquals(2 * BYTES - 4096, files.capacityBytes());
    }
    try (SsdFiles files = opened(SECOND, larger)) {
      assertFalse(files.fresh());
    }
  }

  @Test
  void shouldBeginANewTierWhereTheOldOneCannotGoOn() throws Exception {
    opened(FIRST, spec("a"), spec("b")).close();
    assertFresh("was file 2 of 2, now it is 1 of 2", spec("b"), spec("a"));
    assertFresh("was file 1 of 2, now it is 1 of 1", spec("b"));
    opened(FIRST, spec("a"), spec("b")).close();
    assertFresh("was made smaller", spec("a"), new SsdFileSpec(dir.resolve("b"), BYTES / 2));
    assertEquals(BYTES / 2, Files.size(dir.resolve("b")));
    Files.delete(dir.resolve("a"));
    assertFresh("a was not there", spec("a"), spec("b"));
    opened(FIRST, spec("c")).close();
    Files.delete(dir.resolve("c"));
    opened(new UUID(3, 3), spec("a"), spec("b")).close();
    Files.copy(dir.resolve("a"), dir.resolve("saved"));
    opened(FIRST, spec("c"), spec("b")).close();
    Files.move(dir.resolve("saved"), dir.resolve("c2"));
    assertFresh("belonged to another tier", spec("c2"), spec("b"));
    overwrite(dir.resolve("b"), 30, 1);
    assertFresh("its header is damaged", spec("c2"), spec("b"));
    overwrite(dir.resolve("b"), BYTES - 1, 1);
    try (RandomAccessFile file = new RandomAccessFile(dir.resolve("b").toFile(), "rw")) {
      file.setLength(BYTES - 4096);
    }
    assertFresh("had 1044480 of its 1048576 bytes", spec("c2"), spec("b"));
  }

  @Test
  void shouldNotTouchWhatIsNotOurs() throws IOException {
    Path foreign = dir.resolve("thesis.txt");
    Files.writeString(foreign, "years of work");
    SsdRefusal refusal = refused(spec("new"), new SsdFileSpec(foreign, BYTES));
    assertEquals(Cause.NOT_OURS, refusal.cause());
    assertEquals("years of work", Files.readString(foreign));
    Path zeros = dir.resolve("zeros");
    Files.write(zeros, new byte[8192]);
    assertEquals(Cause.NOT_OURS, refused(new SsdFileSpec(zeros, BYTES)).cause());
    assertEquals(Cause.BAD_PATH, refused(new SsdFileSpec(Path.of("/dev/null"), BYTES)).cause());
    Path nowhere = dir.resolve("no/such/file");
    assertEquals(Cause.BAD_PATH, refused(new SsdFileSpec(nowhere, BYTES)).cause());
    assertEquals(List.of("thesis.txt", "zeros"), names(), "what was begun has been taken back");
  }

  @Test
  void shouldRefuseWhatTheDiskCannotHold() throws IOException {
    long tooMuch = FileSystemSpace.ofPath(dir.toString()).totalBytes() * 2 / 4096 * 4096;
    SsdRefusal refusal = refused(spec("a"), new SsdFileSpec(dir.resolve("b"), tooMuch));
    assertEquals(Cause.NO_SPACE, refusal.cause(), refusal.toString());
    assertTrue(refusal.message().contains("bytes more, and its disk has "), refusal.message());
    assertEquals(List.of(), names(), "what was begun has been taken back");
  }

  @Test
  void shouldRefuseAFileThatAnotherHas() throws Exception {
    try (SsdFiles files = opened(FIRST, spec("a"))) {
      assertTrue(files.fresh());
      assertEquals(Cause.IN_USE, refused(spec("a")).cause());
    }
    opened(SECOND, spec("a")).close();
  }

  @Test
  void shouldRefuseAFileThatIsNamedTwice() throws Exception {
    for (String again : List.of("a", "./a", "../" + dir.getFileName() + "/a")) {
      SsdRefusal refusal = refused(spec("a"), spec("b"), spec(again));
      assertEquals(Cause.BAD_PATH, refusal.cause(), refusal.toString());
      assertTrue(refusal.message().endsWith(" is named twice"), refusal.message());
      assertEquals(List.of(), names(), "what was begun has been taken back");
    }
    opened(FIRST, spec("a")).close();
    Files.createSymbolicLink(dir.resolve("c"), dir.resolve("a"));
    assertEquals(Cause.BAD_PATH, refused(spec("a"), spec("c")).cause());
  }

  @Test
  void shouldTakeOverWhatACrashLeftUnfinished() throws Exception {
    Files.write(dir.resolve("a.unfinished"), new byte[100]);
    try (SsdFiles files = opened(FIRST, spec("a"))) {
      assertTrue(files.fresh());
    }
    assertEquals(List.of("a"), names());
  }

  @Test
  void shouldNameTheFileInAFolder() throws Exception {
    try (SsdFiles files = opened(FIRST, new SsdFileSpec(dir, BYTES))) {
      assertEquals(dir.resolve("orbitkv.ssd"), files.files().getFirst().path());
    }
    assertThrows(IllegalArgumentException.class, () -> new SsdFileSpec(dir, 4096));
    assertThrows(IllegalArgumentException.class, () -> new SsdFileSpec(dir, 10_000));
  }

  @Test
  void shouldKnowWhichAlignmentsWillDo() {
    assertTrue(new DirectIo(true, 512, 512).allows(4096));
    assertTrue(new DirectIo(true, 4096, 4096).allows(4096));
    assertFalse(new DirectIo(true, 512, 16_384).allows(4096), "sectors of 16 KiB");
    assertFalse(new DirectIo(true, 8192, 512).allows(4096));
    assertFalse(new DirectIo(true, 0, 0).allows(4096), "not offered");
    assertTrue(new DirectIo(true, 0, 0).refused());
    assertTrue(new DirectIo(false, 0, 0).allows(4096), "an old kernel does not say");
    assertFalse(new DirectIo(false, 0, 0).refused());
  }

  private SsdFileSpec spec(String name) {
    return new SsdFileSpec(dir.resolve(name), BYTES);
  }

  private void assertFresh(String because, SsdFileSpec... specs) {
    try (SsdFiles files = opened(SECOND, specs)) {
      assertTrue(files.freshBecause().contains(because), files.freshBecause());
      assertEquals(SECOND, files.tierId());
    }
  }

  private static SsdFiles opened(UUID freshId, SsdFileSpec... specs) {
    SsdOpening<SsdFiles> opening = SsdFiles.open(List.of(specs), freshId);
    if (opening instanceof SsdOpening.Opened(SsdFiles files)) {
      return files;
    }
    throw new AssertionError(opening.toString());
  }

  private static SsdRefusal refused(SsdFileSpec... specs) {
    SsdOpening<SsdFiles> opening = SsdFiles.open(List.of(specs), FIRST);
    return assertInstanceOf(SsdOpening.Refused.class, opening).refusal();
  }

  private List<String> names() throws IOException {
    List<String> names = new ArrayList<>();
    try (var paths = Files.list(dir)) {
      paths.map(path -> String.valueOf(path.getFileName())).sorted().forEach(names::add);
    }
    return names;
  }

  private static String permissions(Path path) throws IOException {
    return java.nio.file.attribute.PosixFilePermissions.toString(
        Files.getPosixFilePermissions(path));
  }

  private static void overwrite(Path path, long at, int value) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.seek(at);
      file.write(value);
    }
  }
}
