package io.orbitkv.state.identity;

/**
 * The first field in which two formats differ: why a registration is refused.
 *
 * @param field the field's path, such as {@code dtype} or {@code groups[1].pageTokens}
 * @param ours the value of the format that was asked
 * @param theirs the value of the format it was compared with
 */
public record FormatMismatch(String field, String ours, String theirs) {

  /** One line for a log or a reply. */
  public String message() {
    return field + " differs: " + ours + " here, " + theirs + " there";
  }
}
