package io.orbitkv.client;

import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;

/** What a call gave: a value, or the reason why nothing was done. */
public sealed interface Answer<T> {
  /** It was done. */
  record Ok<T>(T value) implements Answer<T> {}

  /** It was not. */
  record Refused<T>(Refusal refusal) implements Answer<T> {}

  /** A value. */
  static <T> Answer<T> ok(T value) {
    return new Ok<>(value);
  }

  /** A refusal. */
  static <T> Answer<T> refused(Refusal refusal) {
    return new Refused<>(refusal);
  }

  /** A refusal. */
  static <T> Answer<T> refused(RefusalCode code, String message) {
    return new Refused<>(Refusal.of(code, message));
  }

  /**
   * The value.
   *
   * @throws IllegalStateException if it was refused
   */
  default T orThrow() {
    return switch (this) {
      case Ok<T>(T value) -> value;
      case Refused<T>(Refusal refusal) -> throw new IllegalStateException(refusal.toString());
    };
  }
}
