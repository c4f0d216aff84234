package io.orbitkv.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * A {@code struct msghdr} with one buffer and room for passed descriptors, laid out for 64-bit
 * Linux:
 *
 * <pre>
 * msghdr   0 name*  8 namelen  16 iov*  24 iovlen  32 control*  40 controllen  48 flags   (56 bytes)
 * iovec    0 base*  8 length                                                             (16 bytes)
 * cmsghdr  0 length (header and data)  8 level  12 type  16 data, padded to 8 bytes
 * </pre>
 *
 * <p>The control length is exact, not padded: with padding the kernel would let one descriptor more
 * than was expected slip in.
 */
final class SocketMessage {
  /** The most descriptors one message carries here; Linux itself allows 253. */
  static final int MAX_DESCRIPTORS = 64;

  private static final int MSGHDR_BYTES = 56;
  private static final int IOVEC_BYTES = 16;
  private static final int CMSGHDR_BYTES = 16;

  private final MemorySegment header;
  private final MemorySegment control;

  private SocketMessage(Arena arena, MemorySegment bytes, int descriptors) {
    if (descriptors < 0 || descriptors > MAX_DESCRIPTORS) {
      throw new IllegalArgumentException(
          "a message carries 0 to " + MAX_DESCRIPTORS + " descriptors, not " + descriptors);
    }
    header = arena.allocate(MSGHDR_BYTES, 8);
    MemorySegment iovec = arena.allocate(IOVEC_BYTES, 8);
    iovec.set(ValueLayout.ADDRESS, 0, bytes);
    iovec.set(ValueLayout.JAVA_LONG, 8, bytes.byteSize());
    header.set(ValueLayout.ADDRESS, 16, iovec);
    header.set(ValueLayout.JAVA_LONG, 24, 1);
    long controlBytes = descriptors == 0 ? 0 : CMSGHDR_BYTES + 4L * descriptors;
    control = arena.allocate(Math.max(controlBytes, 8), 8);
    if (descriptors > 0) {
      header.set(ValueLayout.ADDRESS, 32, control);
      header.set(ValueLayout.JAVA_LONG, 40, controlBytes);
    }
  }

  /** A message to send. */
  static SocketMessage toSend(Arena arena, MemorySegment bytes, List<OwnedFd> descriptors) {
    SocketMessage message = new SocketMessage(arena, bytes, descriptors.size());
    if (!descriptors.isEmpty()) {
      message.control.set(ValueLayout.JAVA_LONG, 0, CMSGHDR_BYTES + 4L * descriptors.size());
      message.control.set(ValueLayout.JAVA_INT, 8, SocketCalls.SOL_SOCKET);
      message.control.set(ValueLayout.JAVA_INT, 12, SocketCalls.SCM_RIGHTS);
      for (int i = 0; i < descriptors.size(); i++) {
        message.control.set(ValueLayout.JAVA_INT, CMSGHDR_BYTES + 4L * i, descriptors.get(i).fd());
      }
    }
    return message;
  }

  /** Room for a message to receive. */
  static SocketMessage toReceive(Arena arena, MemorySegment bytes, int maxDescriptors) {
    return new SocketMessage(arena, bytes, maxDescriptors);
  }

  MemorySegment header() {
    return header;
  }

  /** Whether descriptors were lost in receiving it. */
  boolean controlTruncated() {
    return (header.get(ValueLayout.JAVA_INT, 48) & SocketCalls.MSG_CTRUNC) != 0;
  }

  /** The descriptors received with it, now owned by the caller. */
  List<OwnedFd> descriptors() {
    List<OwnedFd> descriptors = new ArrayList<>();
    long end = header.get(ValueLayout.JAVA_LONG, 40);
    long offset = 0;
    while (offset + CMSGHDR_BYTES <= end) {
      long length = control.get(ValueLayout.JAVA_LONG, offset);
      if (length < CMSGHDR_BYTES || offset + length > end) {
        break;
      }
      boolean rights =
          control.get(ValueLayout.JAVA_INT, offset + 8) == SocketCalls.SOL_SOCKET
              && control.get(ValueLayout.JAVA_INT, offset + 12) == SocketCalls.SCM_RIGHTS;
      for (long at = offset + CMSGHDR_BYTES; rights && at + 4 <= offset + length; at += 4) {
        descriptors.add(OwnedFd.adopt(control.get(ValueLayout.JAVA_INT, at)));
      }
      offset += (length + 7) / 8 * 8;
    }
    return descriptors;
  }
}
