package io.orbitkv.transfer;

import java.util.UUID;

/**
 * Where a source's transfer engine listens.
 *
 * @param host a name or an address
 * @param port 1 to 65535
 * @param runtime which run of the source is meant; another one refuses
 */
public record PeerEndpoint(String host, int port, UUID runtime) {
  public PeerEndpoint {
    if (host.isEmpty() || port < 1 || port > 65535) {
      throw new IllegalArgumentException("no endpoint: " + host + ":" + port);
    }
  }
}
