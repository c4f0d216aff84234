package io.orbitkv.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostFactsTest {
  @TempDir private Path folder;

  @Test
  void shouldReadThisHost() throws Exception {
    HostFacts facts = HostFacts.read();
    assertFalse(facts.kernel().isEmpty());
    assertTrue(facts.cpu().usableCores() > 0);
    assertFalse(facts.cpu().features().isEmpty());
    assertTrue(facts.memoryTotalBytes() >= facts.memoryAvailableBytes());
    assertTrue(facts.openFilesLimit().soft() > 0);
    assertTrue(
        List.of("always", "madvise", "never", "absent").contains(facts.transparentHugePages()));
    facts.numaNodes().forEach(node -> assertTrue(node.totalBytes() >= node.freeBytes()));
    facts.sharedMemory().ifPresent(space -> assertTrue(space.totalBytes() >= space.freeBytes()));
    facts.hugePagePools().forEach(pool -> assertTrue(pool.total() >= pool.free()));
    for (Probe probe : List.of(facts.ioUring(), facts.cuda())) {
      assertFalse(probe.detail().isEmpty());
      assertEquals(probe.present(), probe.remedy().isEmpty());
    }
  }

  @Test
  void shouldTellAKernelWithoutIoUringFromAProfileThatForbidsIt() {
    Probe absent = IoUring.explain("io_uring_setup", Errno.ENOSYS);
    Probe forbidden = IoUring.explain("io_uring_setup", Errno.EPERM);
    assertFalse(absent.present());
    assertFalse(forbidden.present());
    assertTrue(absent.detail().contains("the kernel has no io_uring"));
    assertTrue(forbidden.detail().contains("forbidden by a seccomp profile"));
    assertNotEquals(absent.remedy(), forbidden.remedy());
  }

  @Test
  void shouldSayWhyALibraryDoesNotLoad() throws Exception {
    Probe absent = HostFacts.mooncake("libno_such_engine.so");
    assertFalse(absent.present());
    assertTrue(absent.detail().contains("libno_such_engine.so"), absent.detail());
    assertTrue(absent.remedy().contains("BUILD_SHARED_LIBS"), absent.remedy());

    Path text = folder.resolve("libtext.so");
    Files.writeString(text, "not a library, though it has the name of one");
    Probe broken = SharedLibrary.probe(text.toString(), "any", "fix it");
    assertFalse(broken.present());
    assertTrue(broken.detail().contains("libtext.so"), broken.detail());

    Probe wrong = SharedLibrary.probe("libc.so.6", "no_such_symbol", "fix it");
    assertEquals("libc.so.6 has no symbol no_such_symbol", wrong.detail());
    assertEquals(Probe.found("libc.so.6"), SharedLibrary.probe("libc.so.6", "malloc", "fix it"));
  }

  @Test
  void shouldExpandNumberLists() {
    assertEquals(List.of(0, 1, 2, 3, 8), ProcFile.numberList("0-3,8\n"));
    assertEquals(List.of(0), ProcFile.numberList("0"));
    assertEquals(List.of(), ProcFile.numberList("\n"));
  }
}
