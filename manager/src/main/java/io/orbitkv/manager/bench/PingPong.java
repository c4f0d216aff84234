package io.orbitkv.manager.bench;

import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.UnixListener;
import io.orbitkv.ffi.UnixSocket;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.workload.Children;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The floor of a round trip: two processes that wake each other by eventfds and do nothing else.
 * Both sleep in ppoll, as a client does that waits for its answer.
 */
final class PingPong implements AutoCloseable {
  private static final int BACKLOG = 1;
  private static final int MODE = 0600;

  private final Process process;
  private final UnixSocket socket;
  private final EventFd ping;
  private final EventFd pong;

  private PingPong(Process process, UnixSocket socket, EventFd ping, EventFd pong) {
    this.process = process;
    this.socket = socket;
    this.ping = ping;
    this.pong = pong;
  }

  /** Starts the other process. */
  static PingPong start(Path dir) {
    String path = dir.resolve("pong.sock").toString();
    Path log = dir.resolve("pong.log");
    Process process = null;
    try (UnixListener listener = UnixListener.listen(path, MODE, BACKLOG);
        Arena arena = Arena.ofConfined()) {
      process = Children.start(List.of("bench", "pong", path), List.of(), log, false);
      UnixSocket socket = accept(listener, process, log);
      EventFd ping = EventFd.create();
      EventFd pong = EventFd.create();
      socket.sendAll(
          arena.allocate(1),
          List.of(ping.descriptor(), pong.descriptor()),
          PongCommand.TIMEOUT_NANOS);
      return new PingPong(process, socket, ping, pong);
    } catch (NativeException failed) {
      if (process != null) {
        Children.stop(process);
      }
      throw new Failure("cannot set up the eventfd ping-pong: " + failed.getMessage(), "", failed);
    }
  }

  /** One round trip. */
  void roundTrip() {
    try {
      ping.signal();
      if (!pong.await(PongCommand.TIMEOUT_NANOS)) {
        throw new Failure("the ping-pong's other process does not answer", "");
      }
      pong.drain();
    } catch (NativeException failed) {
      throw new Failure("ping-pong: " + failed.getMessage(), "", failed);
    }
  }

  @Override
  public void close() {
    socket.close();
    ping.close();
    pong.close();
    Children.stop(process);
  }

  private static UnixSocket accept(UnixListener listener, Process process, Path log)
      throws NativeException {
    long deadline = System.nanoTime() + 3 * PongCommand.TIMEOUT_NANOS;
    while (System.nanoTime() < deadline && process.isAlive()) {
      Optional<UnixSocket> accepted = listener.accept();
      if (accepted.isPresent()) {
        return accepted.get();
      }
      try {
        Thread.sleep(5);
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        break;
      }
    }
    Children.stop(process);
    throw new Failure("the ping-pong's other process did not connect", Children.tail(log));
  }
}
