package io.orbitkv.state;

import java.util.UUID;

/**
 * One run of another host's Manager, as facts name it.
 *
 * @param node what the host is called
 * @param runtimeHigh with {@code runtimeLow} the UUID of the run
 */
public record PeerId(String node, long runtimeHigh, long runtimeLow) {
  /** The UUID of the run. */
  public UUID runtime() {
    return new UUID(runtimeHigh, runtimeLow);
  }

  long chain(long hash) {
    return Mix.chain(Mix.chain(Mix.chain(hash, node), runtimeHigh), runtimeLow);
  }
}
