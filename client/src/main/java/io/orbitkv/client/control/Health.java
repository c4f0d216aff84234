package io.orbitkv.client.control;

import io.orbitkv.client.control.JsonFields.Unknown;
import io.orbitkv.client.wire.Decoded;
import java.util.List;

/**
 * How the daemon is.
 *
 * @param server its version
 * @param sessions live sessions
 * @param journalPosition number of the last fact
 * @param problems what does not work, for people
 */
public record Health(
    State status,
    long epoch,
    String server,
    long uptimeMillis,
    int sessions,
    long poolBytes,
    long poolUsedBytes,
    long journalPosition,
    List<String> problems) {

  /** Whether it serves. */
  public enum State {
    SERVING,
    /** It serves, but something does not work. */
    DEGRADED,
    /** A stop was asked for; new work is refused. */
    DRAINING
  }

  /** Copies the list. */
  public Health {
    problems = List.copyOf(problems);
  }

  /** The JSON. */
  public byte[] encode() {
    return StrictJson.write(this);
  }

  /** Reads the Manager's JSON. */
  public static Decoded<Health> decode(byte[] json) {
    return JsonFields.decode(
        json,
        Unknown.IGNORED,
        in ->
            new Health(
                in.constant("status", State.class),
                in.integer("epoch", 1, JsonFields.MAX_INTEGER),
                in.text("server"),
                in.integer("uptimeMillis", 0, JsonFields.MAX_INTEGER),
                in.smallInteger("sessions", 0, Integer.MAX_VALUE),
                in.integer("poolBytes", 0, JsonFields.MAX_INTEGER),
                in.integer("poolUsedBytes", 0, JsonFields.MAX_INTEGER),
                in.integer("journalPosition", 0, JsonFields.MAX_INTEGER),
                in.texts("problems", 1024)));
  }
}
