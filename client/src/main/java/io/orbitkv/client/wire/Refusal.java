package io.orbitkv.client.wire;

/**
 * A refusal as a value: nothing was changed, and this is why.
 *
 * @param category what to do about it
 * @param code the stable number; see {@link RefusalCode}
 * @param name the code's name
 * @param message what happened, for people
 * @param remedy what to change, for people
 * @param field the request's field it is about, empty if none
 * @param retryAfterMillis when trying again makes sense, 0 if waiting does not help
 */
public record Refusal(
    Category category,
    int code,
    String name,
    String message,
    String remedy,
    String field,
    int retryAfterMillis) {

  /** A refusal with the code's own remedy. */
  public static Refusal of(RefusalCode code, String message) {
    return new Refusal(code.category(), code.number(), code.name(), message, code.remedy(), "", 0);
  }

  /** A refusal that is about one field. */
  public static Refusal ofField(RefusalCode code, String field, String message) {
    return new Refusal(
        code.category(), code.number(), code.name(), message, code.remedy(), field, 0);
  }

  /** A refusal by a number that may be of a later version, with the remedy this version knows. */
  public static Refusal ofNumber(int number, int categoryCode, int retryAfterMillis) {
    RefusalCode known = RefusalCode.of(number);
    if (known == null) {
      return new Refusal(
          Category.of(categoryCode),
          number,
          "CODE_" + number,
          "refused with code " + number,
          "upgrade the client to learn what code " + number + " means",
          "",
          retryAfterMillis);
    }
    return Refusal.of(known, known.name()).withRetry(retryAfterMillis);
  }

  /** The same with another text. */
  public Refusal withText(String newMessage, String newRemedy) {
    return new Refusal(category, code, name, newMessage, newRemedy, field, retryAfterMillis);
  }

  /** The same with a hint when to try again. */
  public Refusal withRetry(int millis) {
    return new Refusal(category, code, name, message, remedy, field, millis);
  }

  /** Whether it is this one. */
  public boolean is(RefusalCode other) {
    return code == other.number();
  }
}
