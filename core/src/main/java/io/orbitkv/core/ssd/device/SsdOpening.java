package io.orbitkv.core.ssd.device;

/**
 * What came of opening a part of the SSD tier.
 *
 * @param <T> what is opened
 */
public sealed interface SsdOpening<T> {
  /** It is there. */
  record Opened<T>(T value) implements SsdOpening<T> {}

  /** It cannot be had; nothing has been left behind that was not there before. */
  record Refused<T>(SsdRefusal refusal) implements SsdOpening<T> {}
}
