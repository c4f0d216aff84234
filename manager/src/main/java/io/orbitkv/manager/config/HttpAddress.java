package io.orbitkv.manager.config;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** {@code HOST:PORT} for HTTP. */
public final class HttpAddress {
  private static final String EXAMPLE = " is not HOST:PORT such as 127.0.0.1:9091, or off";

  private HttpAddress() {}

  /**
   * Reads an address; a host name is looked up.
   *
   * @throws IllegalArgumentException with what to write instead
   */
  public static InetSocketAddress parse(String text) {
    int colon = text.lastIndexOf(':');
    if (colon < 1) {
      throw new IllegalArgumentException("\"" + text + "\"" + EXAMPLE);
    }
    String host = text.substring(0, colon).replaceAll("^\\[|]$", "");
    try {
      int port = Integer.parseInt(text.substring(colon + 1));
      return new InetSocketAddress(InetAddress.getByName(host), port);
    } catch (NumberFormatException notANumber) {
      throw new IllegalArgumentException("\"" + text + "\"" + EXAMPLE, notANumber);
    } catch (UnknownHostException unknown) {
      throw new IllegalArgumentException("host \"" + host + "\" is not known", unknown);
    }
  }
}
