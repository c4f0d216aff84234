package io.orbitkv.core.remote;

import java.util.UUID;

/** What the loop is told by {@link RemoteBlocks} and {@link GrantedRanges}, on its own thread. */
public interface RemoteEvents {
  /** A lookup is over, answered or not. */
  void found(RemoteLookup lookup);

  /**
   * A read has failed, but bytes may still come into its extents: they stay in quarantine until
   * {@link #ended}. Told at most once, before it; reads that end within their time without such a
   * doubt need not be told of.
   */
  void failed(RemoteRead read);

  /**
   * A read is over, well or not: no byte will ever come into its extents any more, and its grant is
   * released or need not be. Told once for each read that {@link RemoteBlocks#read} took.
   */
  void ended(RemoteRead read);

  /**
   * A revoked grant is read no more and never will be.
   *
   * @param reads how many reads it admitted
   */
  void drained(UUID grantId, long reads);
}
