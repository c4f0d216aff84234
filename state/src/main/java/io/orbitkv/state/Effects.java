package io.orbitkv.state;

/**
 * What a fact made true that somebody outside the fold must act upon. Replay passes {@link #NONE}.
 */
public interface Effects {
  Effects NONE = (offset, bytes, generation) -> {};

  /**
   * The last lease and the last submitted operation on an evicted or aborted slice ended: the
   * extent may be reused.
   *
   * @param offset byte offset in the pool
   * @param bytes allocated bytes
   * @param generation the generation that ended
   */
  void extentFreed(long offset, int bytes, long generation);

  /**
   * An SSD extent that no read references any more may be reused.
   *
   * @param file the tier's file
   * @param offset byte offset in the file
   * @param bytes allocated bytes
   * @param generation the generation that ended
   */
  default void ssdExtentFreed(int file, long offset, int bytes, long generation) {}
}
