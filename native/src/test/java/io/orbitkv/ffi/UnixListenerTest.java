package io.orbitkv.ffi;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnixListenerTest {
  private static final long SECONDS_1 = 1_000_000_000L;

  @TempDir private Path folder;

  @Test
  void shouldAcceptWhoConnects() throws Exception {
    String path = folder.resolve("s.sock").toString();
    try (UnixListener listener = UnixListener.listen(path, 0600, 8)) {
      assertTrue(listener.accept().isEmpty());
      try (UnixSocket client = UnixSocket.connect(path, SECONDS_1);
          UnixSocket server = listener.accept().orElseThrow()) {
        assertEquals(client.peerCredentials().uid(), server.peerCredentials().uid());
        assertEquals(ProcessHandle.current().pid(), server.peerCredentials().pid());
      }
    }
    assertFalse(Files.exists(Path.of(path)));
  }

  @Test
  void shouldHaveItsModeWhateverTheUmask() throws Exception {
    for (int mode : new int[] {0600, 0660}) {
      Path path = folder.resolve("mode.sock");
      try (UnixListener listener = UnixListener.listen(path.toString(), mode, 8)) {
        assertEquals(path.toString(), listener.path());
        assertEquals(
            mode == 0600 ? "rw-------" : "rw-rw----",
            PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
      }
    }
  }

  @Test
  void shouldLeaveNothingElseInTheFolder() throws Exception {
    Path path = folder.resolve("only.sock");
    UnixListener listener = UnixListener.listen(path.toString(), 0600, 8);
    try (Stream<Path> files = Files.list(folder)) {
      assertEquals(List.of(path), files.toList());
    }
    listener.close();
    listener.close();
    try (Stream<Path> files = Files.list(folder)) {
      assertEquals(List.of(), files.toList());
    }
  }

  @Test
  void shouldReplaceASocketWhoseServerIsDead() throws Exception {
    String path = folder.resolve("stale.sock").toString();
    UnixListener dead = UnixListener.listen(path, 0600, 8);
    dead.descriptor().close();
    assertTrue(Files.exists(Path.of(path)));
    try (UnixListener next = UnixListener.listen(path, 0600, 8);
        UnixSocket client = UnixSocket.connect(path, SECONDS_1)) {
      assertTrue(next.accept().isPresent());
      assertTrue(client.descriptor().isOpen());
    }
  }

  @Test
  void shouldRefuseAPathThatALiveServerOwns() throws Exception {
    String path = folder.resolve("live.sock").toString();
    try (UnixListener live = UnixListener.listen(path, 0600, 8)) {
      NativeException thrown =
          assertThrows(NativeException.class, () -> UnixListener.listen(path, 0600, 8));
      assertEquals(Errno.EADDRINUSE, thrown.errno());
      String message = requireNonNull(thrown.getMessage());
      assertTrue(message.contains("process " + ProcessHandle.current().pid()), message);
      assertTrue(live.accept().isPresent(), "the probe");
      UnixSocket.connect(path, SECONDS_1).close();
    }
  }

  @Test
  void shouldRefuseALiveServerThatDoesNotAccept() throws Exception {
    String path = folder.resolve("busy.sock").toString();
    List<UnixSocket> clients = new ArrayList<>();
    try (UnixListener live = UnixListener.listen(path, 0600, 1)) {
      while (true) {
        try {
          clients.add(UnixSocket.connect(path, 1_000_000));
        } catch (NativeException full) {
          assertEquals(Errno.EAGAIN, full.errno());
          break;
        }
      }
      NativeException thrown =
          assertThrows(NativeException.class, () -> UnixListener.listen(path, 0600, 8));
      assertEquals(Errno.EADDRINUSE, thrown.errno());
      assertEquals(clients.size(), drain(live));
    } finally {
      clients.forEach(UnixSocket::close);
    }
  }

  @Test
  void shouldNotRemoveWhatIsNotASocket() throws Exception {
    Path path = folder.resolve("file");
    Files.writeString(path, "precious");
    NativeException thrown =
        assertThrows(NativeException.class, () -> UnixListener.listen(path.toString(), 0600, 8));
    assertEquals(Errno.EEXIST, thrown.errno());
    assertEquals("precious", Files.readString(path));
  }

  @Test
  void shouldNotRemoveItsSuccessorsPath() throws Exception {
    Path path = folder.resolve("s.sock");
    UnixListener first = UnixListener.listen(path.toString(), 0600, 8);
    Files.delete(path);
    UnixListener second = UnixListener.listen(path.toString(), 0600, 8);
    first.close();
    assertTrue(Files.exists(path));
    second.close();
    assertFalse(Files.exists(path));
  }

  @Test
  void shouldRefuseAPathThatIsTooLong() throws Exception {
    String path = "/tmp/" + "x".repeat(103);
    NativeException thrown =
        assertThrows(NativeException.class, () -> UnixListener.listen(path, 0600, 8));
    assertEquals(Errno.ENAMETOOLONG, thrown.errno());
    String message = requireNonNull(thrown.getMessage());
    assertTrue(message.contains("has 108 bytes, a socket path at most 107"), message);
    assertEquals(
        Errno.ENAMETOOLONG,
        assertThrows(NativeException.class, () -> UnixSocket.connect(path, SECONDS_1)).errno());
  }

  @Test
  void shouldListenAtAPathOfTheGreatestLength() throws Exception {
    String prefix = folder + "/";
    String path = prefix + "x".repeat(UnixAddress.MAX_PATH_BYTES - prefix.length());
    try (UnixListener listener = UnixListener.listen(path, 0600, 8);
        UnixSocket client = UnixSocket.connect(path, SECONDS_1)) {
      assertTrue(listener.accept().isPresent());
      assertTrue(client.descriptor().isOpen());
    }
  }

  @Test
  void shouldReportAMissingFolder() {
    NativeException thrown =
        assertThrows(
            NativeException.class, () -> UnixListener.listen(folder + "/no/s.sock", 0600, 8));
    assertEquals(Errno.ENOENT, thrown.errno());
    assertEquals("open", thrown.call());
  }

  @Test
  void shouldLetOneOfManyThatStartAtOnceWin() throws Exception {
    String path = folder.resolve("race.sock").toString();
    UnixListener.listen(path, 0600, 8).descriptor().close();
    try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
      Callable<List<UnixListener>> start =
          () -> {
            try {
              return List.of(UnixListener.listen(path, 0600, 64));
            } catch (NativeException taken) {
              assertEquals(Errno.EADDRINUSE, taken.errno());
              return List.of();
            }
          };
      List<UnixListener> winners = new ArrayList<>();
      for (Future<List<UnixListener>> started :
          threads.invokeAll(Stream.generate(() -> start).limit(16).toList())) {
        winners.addAll(started.get());
      }
      assertEquals(1, winners.size());
      try (UnixListener winner = winners.getFirst()) {
        assertEquals(15, drain(winner), "the probes of the others");
      }
    }
  }

  private static int drain(UnixListener listener) throws NativeException {
    int accepted = 0;
    for (var next = listener.accept(); next.isPresent(); next = listener.accept()) {
      next.get().close();
      accepted++;
    }
    return accepted;
  }
}
