package io.orbitkv.state.identity;

import org.jspecify.annotations.Nullable;

/**
 * The materialized model and storage namespace that an instance is bound to. Blocks of two
 * namespaces never meet, whatever their hashes are.
 *
 * <p>Its UTF-8 text is 1 to {@value Limits#MAX_NAMESPACE_CHARS} visible ASCII characters, compared
 * byte for byte: no case folding, no trimming, no normalization. The Manager gives no meaning to
 * its parts. An engine either names one itself, and then a differing {@link StateFormat} is refused
 * at registration, or derives it with {@link #derive}, and then formats that differ never share a
 * name.
 *
 * @param text the name
 */
public record Namespace(String text) implements Comparable<Namespace> {

  /**
   * Takes text that was checked before.
   *
   * @throws IllegalArgumentException when {@link #of} would refuse it
   */
  public Namespace {
    Checked.require(check(text));
  }

  /** Checks untrusted text. */
  public static Checked<Namespace> of(String text) {
    InvalidField problem = check(text);
    return problem == null
        ? new Checked.Valid<>(new Namespace(text))
        : new Checked.Invalid<>(problem);
  }

  /**
   * {@code model@fingerprint}, where the fingerprint is {@link StateFormat#fingerprint()}:
   * instances that share the model name and every field of the format meet, others do not.
   */
  public static Checked<Namespace> derive(String model, StateFormat format) {
    return of(model + "@" + format.fingerprint());
  }

  @Override
  public int compareTo(Namespace other) {
    return text.compareTo(other.text);
  }

  @Override
  public String toString() {
    return text;
  }

  private static @Nullable InvalidField check(String text) {
    return Limits.checkText("namespace", text, Limits.MAX_NAMESPACE_CHARS);
  }
}
