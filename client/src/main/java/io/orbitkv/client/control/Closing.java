package io.orbitkv.client.control;

import io.orbitkv.client.control.JsonFields.Unknown;
import io.orbitkv.client.wire.Decoded;

/**
 * The payload of CLOSING: why the Manager closes the connection next.
 *
 * @param reason a {@link Reason}, or one of a later version
 */
public record Closing(String reason, String message) {

  /** Why a connection is closed. */
  public enum Reason {
    /** A newer session of the same instance, shard and role took over. */
    SUPERSEDED,
    /** Its instance was cleaned up. */
    CLEANED,
    /** The daemon stops. */
    SHUTDOWN,
    /** The client broke the protocol. */
    PROTOCOL_VIOLATION,
    /** The session it was attached to is over. */
    PARENT_ENDED
  }

  /** A message with a reason of this version. */
  public static Closing of(Reason reason, String message) {
    return new Closing(reason.name(), message);
  }

  /** Whether a client may connect again by itself. */
  public boolean mayReconnect() {
    return !reason.equals(Reason.SUPERSEDED.name()) && !reason.equals(Reason.CLEANED.name());
  }

  /** The JSON. */
  public byte[] encode() {
    return StrictJson.write(this);
  }

  /** Reads the Manager's JSON. */
  public static Decoded<Closing> decode(byte[] json) {
    return JsonFields.decode(
        json, Unknown.IGNORED, in -> new Closing(in.name("reason", 64), in.text("message")));
  }
}
