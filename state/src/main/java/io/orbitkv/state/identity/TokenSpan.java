package io.orbitkv.state.identity;

import org.jspecify.annotations.Nullable;

/**
 * A half-open span of token positions {@code [start, end)}, counted from the first token of the
 * prompt.
 *
 * @param start the first position, at least 0
 * @param end the position after the last, {@code start} to {@value Limits#MAX_TOKENS}
 */
public record TokenSpan(int start, int end) {

  /**
   * Takes positions that were checked before.
   *
   * @throws IllegalArgumentException when {@link #of} would refuse them
   */
  public TokenSpan {
    Checked.require(check(start, end));
  }

  /** Checks untrusted positions. */
  public static Checked<TokenSpan> of(long start, long end) {
    InvalidField problem = check(start, end);
    return problem == null
        ? new Checked.Valid<>(new TokenSpan((int) start, (int) end))
        : new Checked.Invalid<>(problem);
  }

  /** The number of tokens. */
  public int tokens() {
    return end - start;
  }

  /** {@code [start,end)}. */
  @Override
  public String toString() {
    return "[" + start + "," + end + ")";
  }

  private static @Nullable InvalidField check(long start, long end) {
    InvalidField problem = Limits.checkRange("start", start, 0, Limits.MAX_TOKENS);
    return problem != null ? problem : Limits.checkRange("end", end, start, Limits.MAX_TOKENS);
  }
}
