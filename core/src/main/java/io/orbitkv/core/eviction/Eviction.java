package io.orbitkv.core.eviction;

/** The policies one can choose by {@code --eviction}. */
public enum Eviction {
  LRU,
  TINYLFU;

  public EvictionPolicy create(long poolBytes) {
    return switch (this) {
      case LRU -> new LruPolicy();
      case TINYLFU -> new TinyLfuPolicy(poolBytes);
    };
  }
}
