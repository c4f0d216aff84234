package io.orbitkv.catalog.inventory;

import org.jspecify.annotations.Nullable;

/** One view of one run: its number in the rows, and how far it is. Guarded by its table's lock. */
final class OwnerView {
  final int id;
  final OwnerRun run;
  final Owner owner;

  /** The snapshot it is made from. */
  final long snapshot;

  /** The journal position it stands for, once it is whole. */
  long position;

  /** How many frames of rows came in. */
  int frames;

  /** How many rows they had. */
  long snapshotRows;

  long rows;

  OwnerView(int id, Owner owner, OwnerRun run, long snapshot, long position) {
    this.id = id;
    this.owner = owner;
    this.run = run;
    this.snapshot = snapshot;
    this.position = position;
  }

  /** Whether lookups see its rows. */
  boolean isVisible() {
    return owner.visible == this;
  }

  /** One host: its run, the view that lookups see and the one that is being made. */
  static final class Owner {
    OwnerRun run;

    /** Read by lookups without the table's lock, so that one store replaces a view by another. */
    volatile @Nullable OwnerView visible;

    @Nullable OwnerView staging;

    /** The stream that may send; an older one is told to go. */
    long stream;

    /** No stream of this host with a lower epoch is taken. */
    long fencedBelow;

    Owner(OwnerRun run) {
      this.run = run;
    }
  }
}
