package io.orbitkv.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A ring that the kernel has made, and where its parts lie in the mapping.
 *
 * <pre>
 *   struct io_uring_params: sq_entries 0, cq_entries 4, flags 8, features 20,
 *     sq_off 40: head, tail +4, ring_mask +8, ring_entries +12, flags +16, dropped +20, array +24
 *     cq_off 80: head, tail +4, ring_mask +8, ring_entries +12, overflow +16, cqes +20
 * </pre>
 *
 * @param flags the setup flags that the kernel took
 */
record UringSetup(
    OwnedFd descriptor,
    int flags,
    int submissionEntries,
    int completionEntries,
    long submissionHead,
    long submissionTail,
    long submissionFlags,
    long submissionArray,
    long completionHead,
    long completionTail,
    long completions) {
  private static final int PARAMS_BYTES = 120;
  private static final int FEATURES_OFFSET = 20;

  private static final int R_DISABLED = 1 << 6;
  private static final int SUBMIT_ALL = 1 << 7;
  private static final int COOP_TASKRUN = 1 << 8;
  private static final int TASKRUN_FLAG = 1 << 9;
  private static final int SINGLE_ISSUER = 1 << 12;
  private static final int DEFER_TASKRUN = 1 << 13;

  /** The best first: what kernels from 6.1, 6.0, 5.19, 5.18 and before take. */
  private static final int[] WISHES = {
    R_DISABLED | SUBMIT_ALL | TASKRUN_FLAG | SINGLE_ISSUER | DEFER_TASKRUN,
    R_DISABLED | SUBMIT_ALL | TASKRUN_FLAG | SINGLE_ISSUER | COOP_TASKRUN,
    SUBMIT_ALL | TASKRUN_FLAG | COOP_TASKRUN,
    SUBMIT_ALL,
    0,
  };

  /** One mapping for both rings, no dropped completions, waits with a timeout: Linux 5.11. */
  private static final int NEEDED_FEATURES = 1 | 1 << 1 | 1 << 8;

  static UringSetup make(int requests) throws NativeException {
    int result = 0;
    for (int flags : WISHES) {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment params = arena.allocate(PARAMS_BYTES, 8);
        params.set(JAVA_INT, 8, flags);
        result = UringCalls.setup(requests, params);
        if (result >= 0) {
          return decode(OwnedFd.adopt(result), flags, params);
        }
      }
      if (result != -Errno.EINVAL.number()) {
        break;
      }
    }
    throw new NativeException("io_uring_setup", Errno.of(-result), requests + " requests");
  }

  boolean startsDisabled() {
    return (flags & R_DISABLED) != 0;
  }

  /** Both rings are in one mapping; the completion entries come last or the index array does. */
  long ringBytes() {
    return Math.max(
        submissionArray + 4L * submissionEntries, completions + 16L * completionEntries);
  }

  List<String> flagNames() {
    List<String> names = new ArrayList<>();
    addName(names, SINGLE_ISSUER, "SINGLE_ISSUER");
    addName(names, DEFER_TASKRUN, "DEFER_TASKRUN");
    addName(names, COOP_TASKRUN, "COOP_TASKRUN");
    addName(names, SUBMIT_ALL, "SUBMIT_ALL");
    return List.copyOf(names);
  }

  private void addName(List<String> names, int flag, String name) {
    if ((flags & flag) != 0) {
      names.add(name);
    }
  }

  private static UringSetup decode(OwnedFd descriptor, int flags, MemorySegment params)
      throws NativeException {
    int features = params.get(JAVA_INT, FEATURES_OFFSET);
    if ((features & NEEDED_FEATURES) != NEEDED_FEATURES) {
      descriptor.close();
      throw new NativeException(
          "io_uring_setup", Errno.EOPNOTSUPP, "features 0x" + Integer.toHexString(features));
    }
    return new UringSetup(
        descriptor,
        flags,
        params.get(JAVA_INT, 0),
        params.get(JAVA_INT, 4),
        params.get(JAVA_INT, 40),
        params.get(JAVA_INT, 44),
        params.get(JAVA_INT, 56),
        params.get(JAVA_INT, 64),
        params.get(JAVA_INT, 80),
        params.get(JAVA_INT, 84),
        params.get(JAVA_INT, 100));
  }
}
