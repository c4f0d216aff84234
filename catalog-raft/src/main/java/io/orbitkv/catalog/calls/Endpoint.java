package io.orbitkv.catalog.calls;

import java.util.Optional;

/**
 * Where a host listens.
 *
 * @param host a name or an address, without brackets
 * @param port 1 to 65535
 */
public record Endpoint(String host, int port) {

  /** Refuses an empty host and a port out of range. */
  public Endpoint {
    if (host.isEmpty() || port < 1 || port > 65_535) {
      throw new IllegalArgumentException("endpoint " + host + ":" + port);
    }
  }

  /** Reads {@code host:port} or {@code [address]:port}; nothing when it is neither. */
  public static Optional<Endpoint> parse(String text) {
    int colon = text.lastIndexOf(':');
    if (colon < 1) {
      return Optional.empty();
    }
    String host = text.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    } else if (host.indexOf(':') >= 0) {
      return Optional.empty();
    }
    try {
      return Optional.of(new Endpoint(host, Integer.parseInt(text.substring(colon + 1))));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** As {@link #parse} reads it. */
  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
