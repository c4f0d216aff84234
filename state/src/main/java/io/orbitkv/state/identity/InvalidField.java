package io.orbitkv.state.identity;

/**
 * Why an input was refused, in words that an operator can act on. On the wire it is a refusal of
 * category USER.
 *
 * @param field the path of the refused field, such as {@code groups[1].pageTokens}
 * @param value the refused value as printable ASCII, cut to {@value #MAX_VALUE_CHARS} characters
 * @param problem what is wrong with it
 * @param remedy what to send instead
 */
public record InvalidField(String field, String value, String problem, String remedy) {

  /** The longest part of a refused value that is repeated back. */
  public static final int MAX_VALUE_CHARS = 80;

  /** Makes the value printable and bounds its length. */
  public InvalidField {
    value = printable(value);
  }

  /** A refused number. */
  public static InvalidField of(String field, long value, String problem, String remedy) {
    return new InvalidField(field, Long.toString(value), problem, remedy);
  }

  /** The same refusal with the field's path prefixed, as {@code prefix.field}. */
  public InvalidField under(String prefix) {
    return new InvalidField(prefix + "." + field, value, problem, remedy);
  }

  /** One line for a log or a reply. */
  public String message() {
    return field + "=" + value + ": " + problem + "; " + remedy;
  }

  private static String printable(String text) {
    int kept = Math.min(text.length(), MAX_VALUE_CHARS);
    StringBuilder out = new StringBuilder(kept + 3);
    for (int i = 0; i < kept; i++) {
      char c = text.charAt(i);
      out.append(c >= ' ' && c <= '~' ? c : '?');
    }
    if (text.length() > MAX_VALUE_CHARS) {
      out.setLength(MAX_VALUE_CHARS - 3);
      out.append("...");
    }
    return out.toString();
  }
}
