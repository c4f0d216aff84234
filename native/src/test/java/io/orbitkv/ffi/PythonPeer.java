package io.orbitkv.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** A second process that talks to us over a Unix socket; killed if it is still there at the end. */
final class PythonPeer implements AutoCloseable {
  private static final long CONNECT_NANOS = TimeUnit.SECONDS.toNanos(20);

  private final UnixListener listener;
  private final Process process;
  private final UnixSocket socket;

  private PythonPeer(UnixListener listener, Process process, UnixSocket socket) {
    this.listener = listener;
    this.process = process;
    this.socket = socket;
  }

  /** Whether there is a Python that can pass descriptors and has eventfd. */
  static boolean isAvailable() throws InterruptedException {
    try {
      String check = "import sys; sys.exit(sys.version_info < (3, 10))";
      return new ProcessBuilder("python3", "-c", check).start().waitFor() == 0;
    } catch (IOException absent) {
      return false;
    }
  }

  static PythonPeer start(Path folder, String scenario) throws IOException {
    Path script = folder.resolve("peer.py");
    try (InputStream source = PythonPeer.class.getResourceAsStream("peer.py")) {
      Files.copy(Objects.requireNonNull(source), script, StandardCopyOption.REPLACE_EXISTING);
    }
    String path = folder.resolve("peer.sock").toString();
    UnixListener listener = UnixListener.listen(path, 0600, 4);
    Process process =
        new ProcessBuilder("python3", script.toString(), scenario, path).inheritIO().start();
    PollCalls.await(listener.descriptor().fd(), PollCalls.POLLIN, CONNECT_NANOS);
    return new PythonPeer(listener, process, listener.accept().orElseThrow());
  }

  UnixSocket socket() {
    return socket;
  }

  Process process() {
    return process;
  }

  void assertSucceeds() throws InterruptedException {
    assertTrue(process.waitFor(20, TimeUnit.SECONDS));
    assertEquals(0, process.exitValue());
  }

  @Override
  public void close() {
    socket.close();
    listener.close();
    process.destroyForcibly();
  }
}
