package io.orbitkv.client.control;

import io.orbitkv.client.control.JsonFields.Unknown;
import io.orbitkv.client.wire.Decoded;
import java.nio.charset.StandardCharsets;

/** The payload of requests that say nothing more: HEALTH and SESSIONS. */
public record Empty() {
  /** The JSON. */
  public byte[] encode() {
    return "{}".getBytes(StandardCharsets.UTF_8);
  }

  /** Reads untrusted JSON. */
  public static Decoded<Empty> decode(byte[] json) {
    return JsonFields.decode(json, Unknown.REFUSED, in -> new Empty());
  }
}
