package io.orbitkv.state.catalog;

/** A catalog shard's state contradicts itself. The host stops serving it and says where. */
public final class BrokenCatalog extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  BrokenCatalog(int catalogShard, long position, String what) {
    super("catalog shard %d at position %d: %s".formatted(catalogShard, position, what));
  }
}
