package io.orbitkv.state.catalog;

import io.orbitkv.state.identity.Checked;
import io.orbitkv.state.identity.InvalidField;
import org.jspecify.annotations.Nullable;

/**
 * What a host is called: 1 to {@value #MAX_CHARS} characters, lower-case letters and digits, and
 * inside also hyphens and dots, so that it can be a DNS name in a certificate.
 *
 * @param text the name
 */
public record NodeId(String text) implements Comparable<NodeId> {
  /** The longest name, in characters. */
  public static final int MAX_CHARS = 63;

  /**
   * Takes text that was checked before.
   *
   * @throws IllegalArgumentException when {@link #of} would refuse it
   */
  public NodeId {
    InvalidField problem = check(text);
    if (problem != null) {
      throw new IllegalArgumentException(problem.toString());
    }
  }

  /** Checks untrusted text. */
  public static Checked<NodeId> of(String text) {
    InvalidField problem = check(text);
    return problem == null ? new Checked.Valid<>(new NodeId(text)) : new Checked.Invalid<>(problem);
  }

  @Override
  public int compareTo(NodeId other) {
    return text.compareTo(other.text);
  }

  @Override
  public String toString() {
    return text;
  }

  private static @Nullable InvalidField check(String text) {
    boolean good = !text.isEmpty() && text.length() <= MAX_CHARS;
    for (int i = 0; good && i < text.length(); i++) {
      char c = text.charAt(i);
      boolean inside = i > 0 && i < text.length() - 1;
      good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (inside && (c == '-' || c == '.'));
    }
    return good
        ? null
        : new InvalidField(
            "node",
            text,
            "not a node id",
            "give 1 to %d of a-z and 0-9, with - and . inside only".formatted(MAX_CHARS));
  }
}
