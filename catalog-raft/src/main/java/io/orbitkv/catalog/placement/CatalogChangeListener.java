package io.orbitkv.catalog.placement;

/** Told of changes on the thread that applies them: it returns at once and throws nothing. */
@FunctionalInterface
public interface CatalogChangeListener {
  /** What one catalog shard's state is now. */
  void changed(CatalogView view);
}
