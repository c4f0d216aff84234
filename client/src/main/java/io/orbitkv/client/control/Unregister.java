package io.orbitkv.client.control;

import io.orbitkv.client.control.JsonFields.Unknown;
import io.orbitkv.client.wire.Decoded;

/**
 * The payload of UNREGISTER, and of UNREGISTERED.
 *
 * @param sessionId the connection's own session
 */
public record Unregister(long sessionId) {
  /** The JSON. */
  public byte[] encode() {
    return StrictJson.write(this);
  }

  /** Reads untrusted JSON. */
  public static Decoded<Unregister> decode(byte[] json) {
    return JsonFields.decode(
        json,
        Unknown.REFUSED,
        in -> new Unregister(in.integer("sessionId", 1, JsonFields.MAX_INTEGER)));
  }
}
