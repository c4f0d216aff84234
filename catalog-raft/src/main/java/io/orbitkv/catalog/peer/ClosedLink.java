package io.orbitkv.catalog.peer;

import io.orbitkv.catalog.inventory.InventoryFrame;
import io.orbitkv.catalog.inventory.InventoryLink;

/** A stream that never came to be. */
enum ClosedLink implements InventoryLink {
  /** The only one. */
  INSTANCE;

  @Override
  public void send(InventoryFrame frame) {
    throw new IllegalStateException("the stream is not open");
  }

  @Override
  public void close() {}
}
