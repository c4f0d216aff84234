package io.orbitkv.core.eviction;

import java.util.function.IntPredicate;

/**
 * The order in which blocks leave a tier when room is needed there; each tier has a policy of its
 * own. Blocks are named by their slot in the host state, a small number that is used again once the
 * block is gone. A policy holds only what lies in its tier and may be found, and never decides what
 * is legal to evict. Its choices are recorded as facts, so recovery and replay need no policy.
 *
 * <p>The same calls in the same order give the same victims. Owned by one thread; not thread-safe.
 */
public interface EvictionPolicy {

  /**
   * A block came into the tier: it was sealed there, or copied there.
   *
   * @param keyHash 64 well-mixed bits of the block's key, the same whenever that key comes again
   * @throws IllegalStateException if the policy holds the slot already
   */
  void entered(int slot, long keyHash);

  /** Whether {@link #entered} looks at the hash; where it does not, any number does. */
  boolean wantsKeyHash();

  /** A block was used by a request; nothing happens if the policy does not hold it. */
  void touched(int slot);

  /**
   * A block left for a reason of somebody else's; nothing happens if the policy does not hold it.
   */
  void removed(int slot);

  /** Takes the best victim among those that may go, out of the policy; -1 if none may. */
  int takeVictim(IntPredicate mayGo);

  /**
   * Undoes {@link #takeVictim}: the block stays, as a likely next victim.
   *
   * @param keyHash as of {@link #entered}
   */
  void putBack(int slot, long keyHash);

  /** Blocks that the policy holds. */
  int size();

  /** The value of {@code --eviction} that chooses it. */
  String name();
}
