package io.orbitkv.client.control;

import io.orbitkv.client.control.JsonFields.Unknown;
import io.orbitkv.client.wire.Decoded;

/** What {@link Cleanup} ended. */
public record Cleaned(String instance, int sessionsClosed, int leasesReleased, int ticketsClosed) {
  /** The JSON. */
  public byte[] encode() {
    return StrictJson.write(this);
  }

  /** Reads the Manager's JSON. */
  public static Decoded<Cleaned> decode(byte[] json) {
    return JsonFields.decode(
        json,
        Unknown.IGNORED,
        in ->
            new Cleaned(
                in.name("instance", 128),
                in.smallInteger("sessionsClosed", 0, Integer.MAX_VALUE),
                in.smallInteger("leasesReleased", 0, Integer.MAX_VALUE),
                in.smallInteger("ticketsClosed", 0, Integer.MAX_VALUE)));
  }
}
