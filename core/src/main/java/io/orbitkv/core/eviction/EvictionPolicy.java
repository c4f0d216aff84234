package io.orbitkv.core.eviction;

import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/**
 * The order in which sealed blocks leave when room is needed. Blocks are named by their slot in the
 * host state; the policy holds sealed blocks only and never decides what is legal to evict. Its
 * choices are recorded as facts, so replay needs no policy. Owned by the manager loop; not
 * thread-safe.
 */
public interface EvictionPolicy {

  /**
   * A block was sealed.
   *
   * @param keyHash 64 well-mixed bits of the block's key, the same whenever that key is published
   *     again
   * @param bytes allocated bytes of all its extents
   * @param unwanted told of blocks (perhaps this one) that the policy would rather not keep; they
   *     have left the policy
   */
  void sealed(int slot, long keyHash, long bytes, IntConsumer unwanted);

  /** A block was used by a request. */
  void touched(int slot);

  /** A block left for a reason of somebody else's. */
  void removed(int slot);

  /** Takes the best victim among those that may go, out of the policy; -1 if none may. */
  int takeVictim(IntPredicate mayGo);

  /**
   * Undoes {@link #takeVictim}: the block stays, as a likely next victim. Parameters as of {@link
   * #sealed}.
   */
  void putBack(int slot, long keyHash, long bytes, IntConsumer unwanted);

  int size();

  String name();
}
