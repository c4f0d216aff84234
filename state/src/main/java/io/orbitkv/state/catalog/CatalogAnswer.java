package io.orbitkv.state.catalog;

import org.jspecify.annotations.Nullable;

/** What came of a command. The placement that is then in force comes along, null before any. */
public sealed interface CatalogAnswer {

  /** The placement in force, null before the catalog shard was founded. */
  @Nullable Placement placement();

  /**
   * Done, now or before.
   *
   * @param position of the change; the position so far if there was nothing left to do
   */
  record Accepted(long position, @Nullable Placement placement) implements CatalogAnswer {}

  /** Nothing was changed. */
  record Refused(CatalogRefusal reason, @Nullable Placement placement) implements CatalogAnswer {}
}
