package io.orbitkv.catalog.lookup;

import io.orbitkv.catalog.inventory.Fingerprint;
import java.util.List;

/**
 * Who has these blocks of one catalog shard?
 *
 * @param catalogShard the catalog shard of every key
 * @param generation of the placement that the asker knows
 * @param keys 1 to {@value #MAX_KEYS} fingerprints
 * @param perTier candidates wanted of each tier, 1 to {@value #MAX_PER_TIER}
 */
public record Question(int catalogShard, long generation, List<Fingerprint> keys, int perTier) {
  /** The most keys of one question. */
  public static final int MAX_KEYS = 2048;

  /** The most candidates of one tier. */
  public static final int MAX_PER_TIER = 4;

  /** Refuses numbers out of range. */
  public Question {
    keys = List.copyOf(keys);
    if (keys.isEmpty() || keys.size() > MAX_KEYS) {
      throw new IllegalArgumentException(keys.size() + " keys, not 1 to " + MAX_KEYS);
    }
    if (perTier < 1 || perTier > MAX_PER_TIER) {
      throw new IllegalArgumentException(perTier + " candidates, not 1 to " + MAX_PER_TIER);
    }
  }
}
