package io.orbitkv.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ErrnoTest {
  @Test
  void shouldNameNumbers() {
    assertEquals("ENOSPC", Errno.of(28).symbol());
    assertEquals("No space left on device", Errno.ENOSPC.message());
    assertEquals("EAGAIN", Errno.of(11).symbol());
    assertEquals("E4000", Errno.of(4000).symbol());
    assertEquals("ENOSPC (28: No space left on device)", Errno.ENOSPC.toString());
  }

  @Test
  void shouldCarryCallErrnoAndSubject() {
    NativeException thrown =
        assertThrows(
            NativeException.class, () -> UnixSocket.connect("/nowhere/at/all.sock", 1_000_000));
    assertEquals("connect", thrown.call());
    assertTrue(thrown.is(Errno.ENOENT));
    assertFalse(thrown.is(Errno.ECONNREFUSED));
    assertEquals(
        "connect /nowhere/at/all.sock: ENOENT (2: No such file or directory)", thrown.getMessage());
  }

  @Test
  void shouldKeepErrnoApartBetweenThreads() throws Exception {
    // One thread fails with EBADF all the time while another fails with ENOENT.
    Thread other =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (int i = 0; i < 20_000; i++) {
                    FileCalls.close(15_000);
                  }
                });
    for (int i = 0; i < 5_000; i++) {
      NativeException thrown =
          assertThrows(NativeException.class, () -> FileStat.of("/nowhere/at/all"));
      assertEquals(Errno.ENOENT, thrown.errno());
    }
    other.join();
  }
}
