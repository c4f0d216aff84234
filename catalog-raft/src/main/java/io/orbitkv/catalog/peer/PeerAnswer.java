package io.orbitkv.catalog.peer;

import io.orbitkv.catalog.calls.Refusal;
import java.util.function.Function;

/**
 * What a call to another host came to. Failing to reach it is an answer too.
 *
 * @param <T> what it says when it is reached
 */
public sealed interface PeerAnswer<T> {

  /** It answered. */
  record Reached<T>(T value) implements PeerAnswer<T> {}

  /** It did not, or did not let this host in. */
  record Failed<T>(Refusal refusal) implements PeerAnswer<T> {}

  /** Turns the value into another. */
  default <R> PeerAnswer<R> map(Function<? super T, ? extends R> convert) {
    return switch (this) {
      case Reached<T>(T value) -> new Reached<>(convert.apply(value));
      case Failed<T>(Refusal refusal) -> new Failed<>(refusal);
    };
  }
}
