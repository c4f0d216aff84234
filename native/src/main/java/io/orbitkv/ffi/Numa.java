package io.orbitkv.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Binds memory to a NUMA node. */
final class Numa {
  /** As many nodes as Linux can be built for. */
  static final int MAX_NODES = 1024;

  private Numa() {}

  /** Takes the range's pages from this node only; 0 or a negative errno. */
  static int bind(long address, long bytes, int node) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mask = arena.allocate(MAX_NODES / 8, 8);
      mask.setAtIndex(ValueLayout.JAVA_LONG, node / 64, 1L << (node % 64));
      // The kernel takes one bit less than it is told of.
      return MemoryCalls.mbind(address, bytes, mask, MAX_NODES + 1);
    }
  }

  static Shortfall shortfall(int node, Errno errno) {
    String remedy =
        errno.equals(Errno.EPERM) || errno.equals(Errno.ENOSYS)
            ? "allow mbind in the container's seccomp profile (CAP_SYS_NICE)"
            : "choose a node listed in /sys/devices/system/node/online";
    return new Shortfall(
        "memory of NUMA node " + node,
        "memory of any node",
        "mbind failed with " + errno.symbol(),
        remedy);
  }
}
