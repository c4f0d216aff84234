package io.orbitkv.state.identity;

import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The answer of a factory that reads untrusted input: the value, or the first field that is wrong.
 *
 * @param <T> the value's type
 */
public sealed interface Checked<T> {

  /** The input was good. */
  record Valid<T>(T value) implements Checked<T> {}

  /** The input was refused and nothing was built. */
  record Invalid<T>(InvalidField problem) implements Checked<T> {}

  /** Applies {@code next} to the value; a refusal passes through unchanged. */
  default <R> Checked<R> then(Function<? super T, Checked<R>> next) {
    return switch (this) {
      case Valid<T>(T value) -> next.apply(value);
      case Invalid<T>(InvalidField problem) -> new Invalid<>(problem);
    };
  }

  /** The refusal, when there is one. */
  default Optional<InvalidField> refusal() {
    return switch (this) {
      case Valid<T> _ -> Optional.empty();
      case Invalid<T>(InvalidField problem) -> Optional.of(problem);
    };
  }

  /**
   * The value, for a caller that knows the input is good.
   *
   * @throws IllegalArgumentException when the input was refused
   */
  default T orElseThrow() {
    return switch (this) {
      case Valid<T>(T value) -> value;
      case Invalid<T>(InvalidField problem) ->
          throw new IllegalArgumentException(problem.message());
    };
  }

  /** Throws when a constructor was handed what its factory would have refused. */
  static void require(@Nullable InvalidField problem) {
    if (problem != null) {
      throw new IllegalArgumentException(problem.message());
    }
  }
}
