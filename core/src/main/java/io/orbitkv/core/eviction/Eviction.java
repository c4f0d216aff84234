package io.orbitkv.core.eviction;

/** The policies one can choose by {@code --eviction}. */
public enum Eviction {
  LRU,
  TINYLFU;

  /** A new policy that holds nothing yet, for one tier. */
  public EvictionPolicy create() {
    return switch (this) {
      case LRU -> new LruPolicy();
      case TINYLFU -> new TinyLfuPolicy();
    };
  }
}
