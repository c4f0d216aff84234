package io.orbitkv.ffi;

import java.nio.ByteOrder;

/** What differs between the two Linux ABIs this package runs on. */
enum Abi {
  X86_64(12, 4, 237, 0x4000),
  AARCH64(16, 8, 235, 0x10000);

  /** The ABI of this process. */
  static final Abi CURRENT = detect();

  // System calls newer than 2019 have one number on every architecture.
  static final int SYS_IO_URING_SETUP = 425;
  static final int SYS_IO_URING_ENTER = 426;
  static final int SYS_IO_URING_REGISTER = 427;
  static final int SYS_PIDFD_OPEN = 434;
  static final int SYS_EPOLL_PWAIT2 = 441;

  /** Bytes of one {@code struct epoll_event}, which is packed on x86-64 only. */
  final int epollEventBytes;

  /** Offset of the 64-bit datum in a {@code struct epoll_event}. */
  final int epollDataOffset;

  final int sysMbind;

  /** The flag of open that goes past the page cache. */
  final int openDirect;

  Abi(int epollEventBytes, int epollDataOffset, int sysMbind, int openDirect) {
    this.epollEventBytes = epollEventBytes;
    this.epollDataOffset = epollDataOffset;
    this.sysMbind = sysMbind;
    this.openDirect = openDirect;
  }

  private static Abi detect() {
    String os = System.getProperty("os.name", "");
    String arch = System.getProperty("os.arch", "");
    if (!os.equals("Linux") || ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
      throw new UnsupportedOperationException("needs little-endian Linux, this is " + os);
    }
    return switch (arch) {
      case "amd64", "x86_64" -> X86_64;
      case "aarch64", "arm64" -> AARCH64;
      default -> throw new UnsupportedOperationException("needs x86-64 or aarch64, not " + arch);
    };
  }
}
