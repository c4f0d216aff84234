package io.orbitkv.client.control;

import io.orbitkv.client.control.JsonFields.Unknown;
import io.orbitkv.client.wire.Decoded;
import java.util.List;

/**
 * The first message of a client.
 *
 * @param client who calls, 1 to 64 visible ASCII characters
 * @param protocolVersions the versions it speaks, 1 to 16 of them
 */
public record Hello(String client, List<Integer> protocolVersions) {
  /** The version described by docs/protocol.md. */
  public static final int PROTOCOL_VERSION = 1;

  /** Copies the list. */
  public Hello {
    protocolVersions = List.copyOf(protocolVersions);
  }

  /** The JSON. */
  public byte[] encode() {
    return StrictJson.write(this);
  }

  /** Reads untrusted JSON. */
  public static Decoded<Hello> decode(byte[] json) {
    return JsonFields.decode(
        json,
        Unknown.REFUSED,
        in -> new Hello(in.name("client", 64), in.integers("protocolVersions", 1, 16, 1, 65_535)));
  }
}
