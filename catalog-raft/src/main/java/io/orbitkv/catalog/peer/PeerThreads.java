package io.orbitkv.catalog.peer;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * The threads of all connections of this host: event loops, and one virtual thread for each call.
 */
public final class PeerThreads implements AutoCloseable {
  final EventLoopGroup loops;
  final ExecutorService handlers;

  /** So many event loops, at least 1. */
  public PeerThreads(int loops) {
    this.loops =
        new MultiThreadIoEventLoopGroup(
            loops, new DefaultThreadFactory("orbitkv-peer-io", true), NioIoHandler.newFactory());
    this.handlers =
        Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("orbitkv-peer-", 0).factory());
  }

  /** Ends them within a second; connections should be closed before. */
  @Override
  public void close() {
    handlers.shutdownNow();
    loops.shutdownGracefully(0, 500, TimeUnit.MILLISECONDS).awaitUninterruptibly(1000);
  }
}
