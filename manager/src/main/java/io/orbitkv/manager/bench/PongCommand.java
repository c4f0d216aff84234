package io.orbitkv.manager.bench;

import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.Received;
import io.orbitkv.ffi.UnixSocket;
import io.orbitkv.manager.cli.ExitCode;
import io.orbitkv.manager.cli.Failure;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * The other process of the floor of {@code bench ipc}: answers every signal of one eventfd by a
 * signal of another, and does nothing else.
 */
@Command(name = "pong", hidden = true, description = "Answer eventfd signals; for bench ipc.")
final class PongCommand implements Callable<Integer> {
  static final long TIMEOUT_NANOS = 10_000_000_000L;

  @Parameters(paramLabel = "SOCKET", description = "Who sends the two eventfds.")
  private String socketPath = "";

  @Override
  public Integer call() {
    try (UnixSocket socket = UnixSocket.connect(socketPath, TIMEOUT_NANOS);
        Arena arena = Arena.ofConfined()) {
      List<OwnedFd> descriptors =
          switch (socket.receiveAll(arena.allocate(1), 2, TIMEOUT_NANOS)) {
            case Received.Data data -> data.descriptors();
            case Received.WouldBlock _, Received.EndOfStream _, Received.DescriptorsLost _ ->
                List.of();
          };
      if (descriptors.size() != 2) {
        throw new Failure(socketPath + " did not send two eventfds", "");
      }
      try (EventFd ping = EventFd.adopt(descriptors.get(0));
          EventFd pong = EventFd.adopt(descriptors.get(1))) {
        answer(socket, ping, pong);
      }
      return ExitCode.OK;
    } catch (NativeException failed) {
      throw new Failure("pong: " + failed.getMessage(), "", failed);
    }
  }

  /** Until the other end of the socket is closed. */
  private static void answer(UnixSocket socket, EventFd ping, EventFd pong) throws NativeException {
    while (true) {
      if (ping.await(200_000_000)) {
        ping.drain();
        pong.signal();
      } else if (socket.awaitReadable(0)) {
        return;
      }
    }
  }
}
