package io.orbitkv.core.ssd.device;

/** Is told of each operation that ended, by {@link SsdDevice#poll}. */
@FunctionalInterface
public interface Completions {
  /**
   * An operation ended: the device will not touch its part of the pool again.
   *
   * @param token what the caller gave with the operation
   * @param result how many bytes were read or written, which may be fewer than asked for; or a
   *     negative errno
   */
  void completed(long token, int result);
}
