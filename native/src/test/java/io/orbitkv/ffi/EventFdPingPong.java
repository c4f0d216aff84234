package io.orbitkv.ffi;

import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * Measures round trips over two eventfds: between two threads, and to a Python process. Run its
 * main method; it prints percentiles in microseconds.
 */
final class EventFdPingPong {
  private static final int WARM_UP = 20_000;
  private static final int ROUND_TRIPS = 50_000;
  private static final long TIMEOUT_NANOS = 5_000_000_000L;

  private EventFdPingPong() {}

  public static void main(String[] arguments) throws Exception {
    signalAndDrain();
    betweenThreads();
    Path folder = Files.createTempDirectory("pingpong");
    try (PythonPeer peer = PythonPeer.start(folder, "pong");
        EventFd ping = EventFd.create();
        EventFd pong = EventFd.create();
        Arena arena = Arena.ofConfined()) {
      peer.socket().send(arena.allocate(1), List.of(ping.descriptor(), pong.descriptor()));
      print("to a Python process", roundTrips(ping, pong));
    }
  }

  private static void signalAndDrain() throws NativeException {
    try (EventFd event = EventFd.create()) {
      long start = 0;
      for (int i = 0; i < 1_200_000; i++) {
        if (i == 200_000) {
          start = System.nanoTime();
        }
        event.signal();
        event.drain();
      }
      System.out.printf("signal and drain: %d ns%n", (System.nanoTime() - start) / 1_000_000);
    }
  }

  private static void betweenThreads() throws Exception {
    try (EventFd ping = EventFd.create();
        EventFd pong = EventFd.create()) {
      Thread echo =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      for (int i = 0; i < WARM_UP + ROUND_TRIPS; i++) {
                        if (!ping.await(TIMEOUT_NANOS)) {
                          return;
                        }
                        ping.drain();
                        pong.signal();
                      }
                    } catch (NativeException failed) {
                      throw new IllegalStateException(failed);
                    }
                  });
      print("between threads", roundTrips(ping, pong));
      echo.join();
    }
  }

  private static long[] roundTrips(EventFd ping, EventFd pong) throws NativeException {
    long[] nanos = new long[ROUND_TRIPS];
    for (int i = 0; i < WARM_UP + ROUND_TRIPS; i++) {
      long start = System.nanoTime();
      ping.signal();
      if (!pong.await(TIMEOUT_NANOS)) {
        throw new IllegalStateException("no answer to round trip " + i);
      }
      pong.drain();
      if (i >= WARM_UP) {
        nanos[i - WARM_UP] = System.nanoTime() - start;
      }
    }
    return nanos;
  }

  private static void print(String what, long[] nanos) {
    Arrays.sort(nanos);
    System.out.printf(
        "%s: p50 %.1f us, p99 %.1f us, max %.1f us%n",
        what,
        nanos[nanos.length / 2] / 1e3,
        nanos[nanos.length * 99 / 100] / 1e3,
        nanos[nanos.length - 1] / 1e3);
  }
}
