package io.orbitkv.core.copy;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The pages an engine registered, and how bytes move between them and the pool. Each kind of memory
 * has its own implementation; {@link HostBuffers} is the one for memory that this process can map.
 *
 * <p>Copies run on worker threads; {@link #close} is called when none is submitted any more.
 */
public interface EngineBuffers extends AutoCloseable {

  /** The layout of a group, null if this shard registered no layer of it. */
  @Nullable GroupLayout layout(int groupId);

  /**
   * Copies one block's bytes of one layer into its extent.
   *
   * @param streaming whether the whole copy is more than the caches hold
   * @return the partial checksum of those bytes at their position in the extent
   */
  long gather(
      GroupLayout layout,
      int layerIndex,
      int block,
      MemorySegment pool,
      long extentOffset,
      boolean streaming);

  /**
   * Copies one block's bytes of one layer out of its extent.
   *
   * @param verify whether to compute the checksum
   * @param streaming whether the whole copy is more than the caches hold
   * @return the partial checksum of the bytes that were copied, 0 if it was not asked for
   */
  long scatter(
      GroupLayout layout,
      int layerIndex,
      int block,
      MemorySegment pool,
      long extentOffset,
      boolean verify,
      boolean streaming);

  /**
   * Whether this process reaches the pages by {@link #gather} and {@link #scatter}. If not, the
   * executor has another way.
   */
  default boolean mapped() {
    return true;
  }

  /** The engine is gone: nothing is to be waited for that only it could do. Any thread. */
  default void engineGone() {}

  /** The word for this kind of memory on the wire: {@code host}. */
  String kind();

  /** Gives the mapping back. Idempotent. */
  @Override
  void close();
}
