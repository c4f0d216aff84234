package io.orbitkv.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** System calls on sockets. Each returns its result, or a negative errno. */
final class SocketCalls {
  static final int AF_UNIX = 1;
  static final int SOCK_STREAM = 1;
  static final int SOCK_NONBLOCK = 0x800;
  static final int SOCK_CLOEXEC = 0x80000;

  static final int SOL_SOCKET = 1;
  static final int SO_PEERCRED = 17;
  static final int SO_SNDTIMEO = 21;
  static final int SO_PEERPIDFD = 77;
  static final int SCM_RIGHTS = 1;

  static final int MSG_CTRUNC = 0x8;
  static final int MSG_NOSIGNAL = 0x4000;
  static final int MSG_CMSG_CLOEXEC = 0x40000000;

  private static final MethodHandle SOCKET =
      Linkage.link("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle SOCKETPAIR =
      Linkage.link("socketpair", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
  private static final MethodHandle BIND =
      Linkage.link("bind", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle CONNECT =
      Linkage.link("connect", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle LISTEN = Linkage.link("listen", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle ACCEPT4 =
      Linkage.link("accept4", JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);
  private static final MethodHandle SHUTDOWN =
      Linkage.link("shutdown", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle GETSOCKOPT =
      Linkage.link("getsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
  private static final MethodHandle SETSOCKOPT =
      Linkage.link("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle SENDMSG =
      Linkage.link("sendmsg", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle RECVMSG =
      Linkage.link("recvmsg", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);

  private SocketCalls() {}

  static int socket(int domain, int type) {
    CallState state = CallState.get();
    try {
      return state.result((int) SOCKET.invokeExact(state.errno, domain, type, 0));
    } catch (Throwable thrown) {
      throw Linkage.failure("socket", thrown);
    }
  }

  static int socketpair(int domain, int type, MemorySegment out) {
    CallState state = CallState.get();
    try {
      return state.result((int) SOCKETPAIR.invokeExact(state.errno, domain, type, 0, out));
    } catch (Throwable thrown) {
      throw Linkage.failure("socketpair", thrown);
    }
  }

  static int bind(int fd, MemorySegment address) {
    CallState state = CallState.get();
    try {
      return state.result(
          (int) BIND.invokeExact(state.errno, fd, address, (int) address.byteSize()));
    } catch (Throwable thrown) {
      throw Linkage.failure("bind", thrown);
    }
  }

  static int connect(int fd, MemorySegment address) {
    CallState state = CallState.get();
    try {
      return state.result(
          (int) CONNECT.invokeExact(state.errno, fd, address, (int) address.byteSize()));
    } catch (Throwable thrown) {
      throw Linkage.failure("connect", thrown);
    }
  }

  static int listen(int fd, int backlog) {
    CallState state = CallState.get();
    try {
      return state.result((int) LISTEN.invokeExact(state.errno, fd, backlog));
    } catch (Throwable thrown) {
      throw Linkage.failure("listen", thrown);
    }
  }

  static int accept4(int fd, int flags) {
    CallState state = CallState.get();
    try {
      return state.result(
          (int)
              ACCEPT4.invokeExact(state.errno, fd, MemorySegment.NULL, MemorySegment.NULL, flags));
    } catch (Throwable thrown) {
      throw Linkage.failure("accept4", thrown);
    }
  }

  static int shutdown(int fd, int how) {
    CallState state = CallState.get();
    try {
      return state.result((int) SHUTDOWN.invokeExact(state.errno, fd, how));
    } catch (Throwable thrown) {
      throw Linkage.failure("shutdown", thrown);
    }
  }

  static int getsockopt(int fd, int level, int name, MemorySegment value, MemorySegment length) {
    CallState state = CallState.get();
    try {
      return state.result(
          (int) GETSOCKOPT.invokeExact(state.errno, fd, level, name, value, length));
    } catch (Throwable thrown) {
      throw Linkage.failure("getsockopt", thrown);
    }
  }

  static int setsockopt(int fd, int level, int name, MemorySegment value) {
    CallState state = CallState.get();
    try {
      return state.result(
          (int)
              SETSOCKOPT.invokeExact(state.errno, fd, level, name, value, (int) value.byteSize()));
    } catch (Throwable thrown) {
      throw Linkage.failure("setsockopt", thrown);
    }
  }

  static long sendmsg(int fd, MemorySegment message, int flags) {
    CallState state = CallState.get();
    try {
      return state.result((long) SENDMSG.invokeExact(state.errno, fd, message, flags));
    } catch (Throwable thrown) {
      throw Linkage.failure("sendmsg", thrown);
    }
  }

  static long recvmsg(int fd, MemorySegment message, int flags) {
    CallState state = CallState.get();
    try {
      return state.result((long) RECVMSG.invokeExact(state.errno, fd, message, flags));
    } catch (Throwable thrown) {
      throw Linkage.failure("recvmsg", thrown);
    }
  }
}
