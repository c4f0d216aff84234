package io.orbitkv.client.control;

import io.orbitkv.client.control.JsonFields.Unknown;
import io.orbitkv.client.wire.Decoded;
import org.jspecify.annotations.Nullable;

/**
 * Ends every session of an instance.
 *
 * @param expectSessionId clean up only if this is a live session of the instance; null to do it in
 *     any case
 */
public record Cleanup(String instance, @Nullable Long expectSessionId) {
  /** The JSON. */
  public byte[] encode() {
    return StrictJson.write(this);
  }

  /** Reads untrusted JSON. */
  public static Decoded<Cleanup> decode(byte[] json) {
    return JsonFields.decode(
        json,
        Unknown.REFUSED,
        in ->
            new Cleanup(
                in.name("instance", 128),
                in.optionalInteger("expectSessionId", 1, JsonFields.MAX_INTEGER)));
  }
}
