package io.orbitkv.chaos.crash;

import java.util.ArrayList;
import java.util.List;

/**
 * What clients were told, each the end of a promise: it must be found in the journal whatever
 * happened to the daemon a microsecond later. Thread-safe.
 */
final class Told {
  /** A client was told so. */
  sealed interface Promise {
    record SessionOpened(long sessionId, long epoch) implements Promise {}

    /** In one of these epochs: the client may have reconnected just before it asked. */
    record Stored(String keyHex, long firstEpoch, long lastEpoch) implements Promise {}

    record Leased(long leaseId, long epoch) implements Promise {}

    record Restored(long leaseId, long epoch) implements Promise {}

    record Released(long leaseId, long epoch) implements Promise {}
  }

  private final List<Promise> promises = new ArrayList<>();

  synchronized void add(Promise promise) {
    promises.add(promise);
  }

  /** Takes what was told since the last call. */
  synchronized List<Promise> take() {
    List<Promise> taken = List.copyOf(promises);
    promises.clear();
    return taken;
  }
}
