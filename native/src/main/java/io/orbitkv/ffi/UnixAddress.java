package io.orbitkv.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** Encodes a {@code struct sockaddr_un}: a 16-bit family, then the path and a zero byte. */
final class UnixAddress {
  /** The longest path in bytes of UTF-8. */
  static final int MAX_PATH_BYTES = 107;

  private static final int PATH_OFFSET = 2;

  private UnixAddress() {}

  /**
   * @throws NativeException ENAMETOOLONG if the path does not fit, with its length and the limit
   */
  static MemorySegment encode(String path, Arena arena) throws NativeException {
    byte[] bytes = path.getBytes(StandardCharsets.UTF_8);
    requireFits(path);
    if (bytes.length == 0 || path.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("not a socket path: '" + path + "'");
    }
    MemorySegment address = arena.allocate(PATH_OFFSET + bytes.length + 1L, 2);
    address.set(ValueLayout.JAVA_SHORT, 0, (short) SocketCalls.AF_UNIX);
    MemorySegment.copy(bytes, 0, address, ValueLayout.JAVA_BYTE, PATH_OFFSET, bytes.length);
    return address;
  }

  static void requireFits(String path) throws NativeException {
    int length = path.getBytes(StandardCharsets.UTF_8).length;
    if (length > MAX_PATH_BYTES) {
      throw new NativeException(
          "bind",
          Errno.ENAMETOOLONG,
          path + " has " + length + " bytes, a socket path at most " + MAX_PATH_BYTES);
    }
  }
}
