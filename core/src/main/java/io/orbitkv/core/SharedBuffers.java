package io.orbitkv.core;

import io.orbitkv.core.copy.EngineBuffers;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * The pages of one engine process, used by one session or by a session and those attached to it;
 * unmapped when the last of them has drained.
 */
final class SharedBuffers {
  private final EngineBuffers buffers;

  /** For each group the pages that a running restore writes to. */
  private final Map<Integer, BitSet> targeted = new HashMap<>();

  private int users;

  SharedBuffers(EngineBuffers buffers) {
    this.buffers = buffers;
  }

  EngineBuffers buffers() {
    return buffers;
  }

  void addUser() {
    users++;
  }

  /** The caller has drained. */
  void removeUser() {
    users--;
    if (users == 0) {
      buffers.close();
    }
  }

  BitSet targeted(int groupId) {
    return targeted.computeIfAbsent(groupId, group -> new BitSet());
  }
}
