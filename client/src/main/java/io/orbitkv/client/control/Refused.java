package io.orbitkv.client.control;

import io.orbitkv.client.control.JsonFields.Unknown;
import io.orbitkv.client.wire.Category;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.Refusal;
import org.jspecify.annotations.Nullable;

/**
 * The payload of REFUSED.
 *
 * @param field the request's field it is about, null for none
 * @param closing whether the Manager closes the connection next
 */
public record Refused(
    Category category,
    int code,
    String name,
    String message,
    String remedy,
    @Nullable String field,
    int retryAfterMillis,
    boolean closing) {

  /** A refusal as a message. */
  public static Refused of(Refusal refusal, boolean closing) {
    return new Refused(
        refusal.category(),
        refusal.code(),
        refusal.name(),
        refusal.message(),
        refusal.remedy(),
        refusal.field().isEmpty() ? null : refusal.field(),
        refusal.retryAfterMillis(),
        closing);
  }

  /** The message as a refusal. */
  public Refusal refusal() {
    return new Refusal(
        category, code, name, message, remedy, field == null ? "" : field, retryAfterMillis);
  }

  /** The JSON. */
  public byte[] encode() {
    return StrictJson.write(this);
  }

  /** Reads the Manager's JSON. */
  public static Decoded<Refused> decode(byte[] json) {
    return JsonFields.decode(
        json,
        Unknown.IGNORED,
        in ->
            new Refused(
                in.constant("category", Category.class),
                in.smallInteger("code", 1, 65_535),
                in.text("name"),
                in.text("message"),
                in.text("remedy"),
                in.has("field") ? in.text("field") : null,
                in.smallInteger("retryAfterMillis", 0, Integer.MAX_VALUE),
                in.bool("closing", false)));
  }
}
