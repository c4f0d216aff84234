package io.orbitkv.client.wire;

/** What decoding untrusted bytes gave: a value, or the refusal to answer with. */
public sealed interface Decoded<T> {

  /** It was well formed. */
  record Good<T>(T value) implements Decoded<T> {}

  /** It was not. */
  record Bad<T>(Refusal refusal) implements Decoded<T> {}

  /** A value. */
  static <T> Decoded<T> good(T value) {
    return new Good<>(value);
  }

  /** A refusal. */
  static <T> Decoded<T> bad(RefusalCode code, String message) {
    return new Bad<>(Refusal.of(code, message));
  }

  /** A refusal that is about one field. */
  static <T> Decoded<T> bad(RefusalCode code, String field, String message) {
    return new Bad<>(Refusal.ofField(code, field, message));
  }
}
