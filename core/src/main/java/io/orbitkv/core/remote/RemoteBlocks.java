package io.orbitkv.core.remote;

/**
 * Blocks of other hosts: asks who has them and reads them. The loop calls it and polls it; nobody
 * else does, and no call waits. Whoever implements it wakes the loop when there is something to
 * poll.
 *
 * <p>Every lookup and every read that was taken is handed back. A read that does not end by its
 * deadline is told as {@link RemoteEvents#failed} then, and as {@link RemoteEvents#ended} only with
 * the proof that no byte can arrive any more; the loop counts its deadlines itself as well.
 */
public interface RemoteBlocks {
  /**
   * Whether work with others may begin: false while this host is fenced or alone. What was begun
   * ends as always.
   */
  boolean open();

  /** Takes a lookup, or returns false when as many as allowed are under way. */
  boolean lookup(RemoteLookup lookup);

  /** Takes a read, or returns false when as many as allowed are under way. */
  boolean read(RemoteRead read);

  /** Tells what has happened, at most {@code limit} things; returns how many. */
  int poll(RemoteEvents events, int limit);
}
