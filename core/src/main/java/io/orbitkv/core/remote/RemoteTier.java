package io.orbitkv.core.remote;

/** Where an owner holds a block. */
public enum RemoteTier {
  /** In the pinned pool. */
  DRAM,
  /** On SSD; the owner stages it in its pool before it gives a grant. */
  SSD
}
