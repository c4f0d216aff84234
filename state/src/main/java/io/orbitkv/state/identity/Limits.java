package io.orbitkv.state.identity;

import org.jspecify.annotations.Nullable;

/** The bounds of declared values and the checks that hold them, all inclusive. */
public final class Limits {

  /** The highest token position: a bitmap of one-token pages stays at 2 MiB. */
  public static final int MAX_TOKENS = 1 << 24;

  /** The highest group id. */
  public static final int MAX_GROUP_ID = 65_535;

  /** The most groups of one model. */
  public static final int MAX_GROUPS = 64;

  /** The most bytes of one block in one shard: 64 GiB. */
  public static final long MAX_BLOCK_BYTES = 1L << 36;

  /** The most ranks of one model, all parallel dimensions multiplied, over all its hosts. */
  public static final int MAX_RANKS = 65_536;

  /** The longest text of a namespace, in characters. */
  public static final int MAX_NAMESPACE_CHARS = 200;

  /** The longest digest text, in characters. */
  public static final int MAX_DIGEST_CHARS = 128;

  /** The longest dtype or layout name, in characters. */
  public static final int MAX_NAME_CHARS = 64;

  private Limits() {}

  static @Nullable InvalidField checkRange(String field, long value, long min, long max) {
    if (value >= min && value <= max) {
      return null;
    }
    return InvalidField.of(
        field, value, "out of range", "give a whole number from " + min + " to " + max);
  }

  static @Nullable InvalidField checkText(String field, String text, int maxChars) {
    String remedy = "give 1 to " + maxChars + " visible ASCII characters, without spaces";
    if (text.isEmpty()) {
      return new InvalidField(field, text, "empty", remedy);
    }
    if (text.length() > maxChars) {
      return new InvalidField(field, text, text.length() + " characters is too long", remedy);
    }
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c <= ' ' || c > '~') {
        String problem = "character %d (U+%04X) is not visible ASCII".formatted(i, (int) c);
        return new InvalidField(field, text, problem, remedy);
      }
    }
    return null;
  }
}
