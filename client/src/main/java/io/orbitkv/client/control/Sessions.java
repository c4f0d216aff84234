package io.orbitkv.client.control;

import io.orbitkv.client.control.JsonFields.Unknown;
import io.orbitkv.client.wire.Decoded;
import java.util.List;

/**
 * The live sessions, in ascending id.
 *
 * @param omitted how many more there are than fit
 */
public record Sessions(List<Session> sessions, int omitted) {
  /** The most sessions in one answer. */
  public static final int MAX_SESSIONS = 1024;

  /**
   * One of them.
   *
   * @param openedAtMillis wall-clock time since 1970
   * @param leases open leases it holds
   * @param tickets open tickets it holds
   * @param outstanding requests not answered for good
   */
  public record Session(
      long sessionId,
      long instanceId,
      String instance,
      String namespace,
      int shard,
      Register.Role role,
      int pid,
      int uid,
      long openedAtMillis,
      int leases,
      int tickets,
      int outstanding) {}

  /** Copies the list. */
  public Sessions {
    sessions = List.copyOf(sessions);
  }

  /** The JSON. */
  public byte[] encode() {
    return StrictJson.write(this);
  }

  /** Reads the Manager's JSON. */
  public static Decoded<Sessions> decode(byte[] json) {
    return JsonFields.decode(
        json,
        Unknown.IGNORED,
        in ->
            new Sessions(
                in.objects("sessions", 0, MAX_SESSIONS, Sessions::session),
                in.smallInteger("omitted", 0, Integer.MAX_VALUE)));
  }

  private static Session session(JsonFields in) {
    return new Session(
        in.integer("sessionId", 1, JsonFields.MAX_INTEGER),
        in.integer("instanceId", 1, JsonFields.MAX_INTEGER),
        in.name("instance", 128),
        in.name("namespace", 200),
        in.smallInteger("shard", 0, RegisterCheck.MAX_SHARDS - 1),
        in.constant("role", Register.Role.class),
        in.smallInteger("pid", 0, Integer.MAX_VALUE),
        in.smallInteger("uid", 0, Integer.MAX_VALUE),
        in.integer("openedAtMillis", 0, JsonFields.MAX_INTEGER),
        in.smallInteger("leases", 0, Integer.MAX_VALUE),
        in.smallInteger("tickets", 0, Integer.MAX_VALUE),
        in.smallInteger("outstanding", 0, Integer.MAX_VALUE));
  }
}
