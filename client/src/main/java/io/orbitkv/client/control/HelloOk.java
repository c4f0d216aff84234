package io.orbitkv.client.control;

import io.orbitkv.client.control.JsonFields.Unknown;
import io.orbitkv.client.wire.Decoded;

/**
 * The answer to {@link Hello}.
 *
 * @param version the chosen protocol version
 * @param epoch this run of the daemon, from 1
 * @param server for logs
 * @param limits what the Manager takes
 */
public record HelloOk(int version, long epoch, String server, Limits limits) {

  /**
   * What the Manager takes.
   *
   * @param maxControlBytes largest control payload
   * @param maxBuffers buffers of one registration
   * @param maxGroups groups of one registration
   * @param maxLayers layers of one registration
   * @param maxKeysPerRequest keys of one QUERY or PUBLISH, blocks of one RESTORE
   * @param maxOutstanding requests of one session that are not answered for good
   * @param leaseMillis life of a lease
   * @param ticketMillis life of a ticket whose query names none
   * @param maxTicketMillis longest life of a ticket
   * @param helloTimeoutMillis how long a connection may wait before HELLO, and a frame take
   */
  public record Limits(
      int maxControlBytes,
      int maxBuffers,
      int maxGroups,
      int maxLayers,
      int maxKeysPerRequest,
      int maxOutstanding,
      int leaseMillis,
      int ticketMillis,
      int maxTicketMillis,
      int helloTimeoutMillis) {

    /** What this version takes by default. */
    public static final Limits STANDARD =
        new Limits(1 << 20, 64, 16, 4096, 32_768, 256, 30_000, 10_000, 60_000, 5_000);

    /** The same with other lives of leases and tickets. */
    public Limits withLives(int newLeaseMillis, int newTicketMillis, int newMaxTicketMillis) {
      return new Limits(
          maxControlBytes,
          maxBuffers,
          maxGroups,
          maxLayers,
          maxKeysPerRequest,
          maxOutstanding,
          newLeaseMillis,
          newTicketMillis,
          newMaxTicketMillis,
          helloTimeoutMillis);
    }
  }

  /** The JSON. */
  public byte[] encode() {
    return StrictJson.write(this);
  }

  /** Reads the Manager's JSON. */
  public static Decoded<HelloOk> decode(byte[] json) {
    return JsonFields.decode(
        json,
        Unknown.IGNORED,
        in -> {
          Limits limits = in.object("limits", HelloOk::limits);
          return new HelloOk(
              in.smallInteger("version", 1, 65_535),
              in.integer("epoch", 1, JsonFields.MAX_INTEGER),
              in.text("server"),
              limits == null ? Limits.STANDARD : limits);
        });
  }

  private static Limits limits(JsonFields in) {
    return new Limits(
        positive(in, "maxControlBytes"),
        positive(in, "maxBuffers"),
        positive(in, "maxGroups"),
        positive(in, "maxLayers"),
        positive(in, "maxKeysPerRequest"),
        positive(in, "maxOutstanding"),
        positive(in, "leaseMillis"),
        positive(in, "ticketMillis"),
        positive(in, "maxTicketMillis"),
        positive(in, "helloTimeoutMillis"));
  }

  private static int positive(JsonFields in, String field) {
    return in.smallInteger(field, 1, Integer.MAX_VALUE);
  }
}
