package io.orbitkv.state.identity;

import org.jspecify.annotations.Nullable;

/**
 * What a block is called in every tier and on every host: a namespace, a group in it, and the
 * engine's own hash of the tokens up to the end of the block.
 *
 * @param namespace the namespace
 * @param group the group id, 0 to {@value Limits#MAX_GROUP_ID}
 * @param hash the engine's native block hash
 */
public record StateKey(Namespace namespace, int group, BlockHash hash)
    implements Comparable<StateKey> {

  /**
   * Takes a group id that was checked before.
   *
   * @throws IllegalArgumentException when {@link #of} would refuse it
   */
  public StateKey {
    Checked.require(check(group));
  }

  /** Checks an untrusted group id. */
  public static Checked<StateKey> of(Namespace namespace, long group, BlockHash hash) {
    InvalidField problem = check(group);
    return problem == null
        ? new Checked.Valid<>(new StateKey(namespace, (int) group, hash))
        : new Checked.Invalid<>(problem);
  }

  /** Orders by namespace, then group, then hash. */
  @Override
  public int compareTo(StateKey other) {
    int order = namespace.compareTo(other.namespace);
    if (order == 0) {
      order = Integer.compare(group, other.group);
    }
    return order != 0 ? order : hash.compareTo(other.hash);
  }

  /** {@code namespace/group/hash}. */
  @Override
  public String toString() {
    return namespace + "/" + group + "/" + hash;
  }

  private static @Nullable InvalidField check(long group) {
    return Limits.checkRange("group", group, 0, Limits.MAX_GROUP_ID);
  }
}
