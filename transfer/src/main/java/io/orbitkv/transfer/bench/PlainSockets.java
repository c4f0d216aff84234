package io.orbitkv.transfer.bench;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * What a Java program without an engine reaches: a thread for each connection on both sides,
 * blocking channels, 16-byte requests, no grants, no token, no deadlines.
 */
final class PlainSockets {
  private static final int REQUEST_BYTES = 16;

  private PlainSockets() {}

  /** Serves reads of a pool until the process ends; the port. */
  static int serve(MemorySegment pool) throws IOException {
    ServerSocketChannel listener =
        ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              while (true) {
                try {
                  SocketChannel accepted = listener.accept();
                  Thread.ofPlatform().daemon().start(() -> serve(accepted, pool));
                } catch (IOException closed) {
                  return;
                }
              }
            });
    return ((InetSocketAddress) listener.getLocalAddress()).getPort();
  }

  private static void serve(SocketChannel peer, MemorySegment pool) {
    ByteBuffer request = ByteBuffer.allocateDirect(REQUEST_BYTES);
    try (peer) {
      while (true) {
        fill(peer, request.clear());
        ByteBuffer bytes = pool.asSlice(request.getLong(0), request.getLong(8)).asByteBuffer();
        while (bytes.hasRemaining()) {
          peer.write(bytes);
        }
      }
    } catch (IOException gone) {
      return;
    }
  }

  /** Bytes per second of reads of one size, with so many under way over all connections. */
  static double run(int port, long poolBytes, int size, int depth, int streams, double seconds) {
    int threads = Math.min(streams, depth);
    long end = System.nanoTime() + (long) (seconds * 1e9);
    List<CompletableFuture<Long>> loads = new ArrayList<>();
    long from = System.nanoTime();
    for (int i = 0; i < threads; i++) {
      int share = depth / threads;
      CompletableFuture<Long> load = new CompletableFuture<>();
      loads.add(load);
      Thread.ofPlatform()
          .daemon()
          .start(
              () -> {
                try {
                  load.complete(readUntil(end, port, poolBytes, size, share));
                } catch (IOException e) {
                  load.completeExceptionally(e);
                }
              });
    }
    long bytes = 0;
    try {
      for (CompletableFuture<Long> each : loads) {
        bytes += each.join();
      }
    } catch (CompletionException e) {
      throw new IllegalStateException("plain sockets failed", e);
    }
    return bytes * 1e9 / (System.nanoTime() - from);
  }

  private static long readUntil(long end, int port, long poolBytes, int size, int depth)
      throws IOException {
    try (Arena arena = Arena.ofShared();
        SocketChannel source =
            SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
      source.socket().setTcpNoDelay(true);
      MemorySegment destination = arena.allocate((long) size * depth, 4096);
      ByteBuffer request = ByteBuffer.allocateDirect(REQUEST_BYTES);
      long asked = 0;
      long done = 0;
      while (done < asked || System.nanoTime() < end) {
        while (asked - done < depth && System.nanoTime() < end) {
          long slots = poolBytes / size;
          request.clear().putLong(0, asked % slots * size).putLong(8, size);
          source.write(request);
          asked++;
        }
        if (done < asked) {
          fill(source, destination.asSlice(done % depth * size, size).asByteBuffer());
          done++;
        }
      }
      return done * size;
    }
  }

  private static void fill(SocketChannel from, ByteBuffer to) throws IOException {
    while (to.hasRemaining()) {
      if (from.read(to) < 0) {
        throw new EOFException("the peer closed the connection");
      }
    }
  }
}
