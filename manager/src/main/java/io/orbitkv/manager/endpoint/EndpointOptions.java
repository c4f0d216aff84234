package io.orbitkv.manager.endpoint;

import io.orbitkv.client.control.HelloOk;
import java.util.Set;

/**
 * How the control socket is kept.
 *
 * @param socketPath where it listens, at most 107 bytes
 * @param socketMode who may connect by the file's mode: 0600 or 0660
 * @param allowedUids users who may connect besides the daemon's own and root
 * @param allowedGids groups whose members may connect; with mode 0660 the daemon's own group too
 * @param maxConnections open connections, above which more are refused
 * @param limits what HELLO_OK tells
 * @param server the daemon's name and version, for HELLO_OK
 */
public record EndpointOptions(
    String socketPath,
    int socketMode,
    Set<Integer> allowedUids,
    Set<Integer> allowedGids,
    int maxConnections,
    HelloOk.Limits limits,
    String server) {
  /** Copies the sets. */
  public EndpointOptions {
    allowedUids = Set.copyOf(allowedUids);
    allowedGids = Set.copyOf(allowedGids);
  }
}
