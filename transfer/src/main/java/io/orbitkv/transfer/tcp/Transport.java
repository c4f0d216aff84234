package io.orbitkv.transfer.tcp;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import org.jspecify.annotations.Nullable;

/** One of the kernel's interfaces for sockets, with the reason for it. */
record Transport(
    String name,
    String reason,
    IoHandlerFactory handlers,
    Class<? extends SocketChannel> socket,
    Class<? extends ServerChannel> listener) {

  /**
   * Takes what is asked for, if this host allows it.
   *
   * @throws IllegalArgumentException if it does not
   */
  static Transport choose(TcpOptions.Preference preference) {
    return switch (preference) {
      case AUTO -> automatic();
      case IO_URING -> {
        require("io_uring", IoUring.unavailabilityCause());
        yield ioUring("asked for");
      }
      case EPOLL -> {
        require("epoll", Epoll.unavailabilityCause());
        yield epoll("asked for");
      }
      case NIO -> nio("asked for");
    };
  }

  /** Why one cannot be used here; null if it can. */
  static @Nullable String unavailable(TcpOptions.Preference preference) {
    return switch (preference) {
      case AUTO, NIO -> null;
      case IO_URING -> causeOf(IoUring.unavailabilityCause());
      case EPOLL -> causeOf(Epoll.unavailabilityCause());
    };
  }

  EventLoopGroup group(int threads) {
    return new MultiThreadIoEventLoopGroup(
        threads, new DefaultThreadFactory("orbitkv-transfer", true), handlers);
  }

  private static Transport automatic() {
    String noUring = causeOf(IoUring.unavailabilityCause());
    if (noUring == null) {
      return ioUring("the kernel allows io_uring");
    }
    String noEpoll = causeOf(Epoll.unavailabilityCause());
    if (noEpoll == null) {
      return epoll("no io_uring: " + noUring);
    }
    return nio("no io_uring: " + noUring + "; no epoll: " + noEpoll);
  }

  private static Transport ioUring(String reason) {
    return new Transport(
        "io_uring",
        reason,
        IoUringIoHandler.newFactory(),
        IoUringSocketChannel.class,
        IoUringServerSocketChannel.class);
  }

  private static Transport epoll(String reason) {
    return new Transport(
        "epoll",
        reason,
        EpollIoHandler.newFactory(),
        EpollSocketChannel.class,
        EpollServerSocketChannel.class);
  }

  private static Transport nio(String reason) {
    return new Transport(
        "nio",
        reason,
        NioIoHandler.newFactory(),
        NioSocketChannel.class,
        NioServerSocketChannel.class);
  }

  private static void require(String name, @Nullable Throwable cause) {
    if (cause != null) {
      throw new IllegalArgumentException("no " + name + " here: " + causeOf(cause), cause);
    }
  }

  private static @Nullable String causeOf(@Nullable Throwable thrown) {
    if (thrown == null) {
      return null;
    }
    Throwable root = thrown;
    for (Throwable next = root.getCause(); next != null; next = root.getCause()) {
      root = next;
    }
    return String.valueOf(root.getMessage());
  }
}
