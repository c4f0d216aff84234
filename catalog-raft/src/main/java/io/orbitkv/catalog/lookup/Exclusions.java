package io.orbitkv.catalog.lookup;

import io.orbitkv.catalog.inventory.Candidate;
import io.orbitkv.catalog.inventory.Fingerprint;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.inventory.Tier;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The candidates that one request has found to be wrong. It lives as long as the request; others
 * see nothing of it.
 */
public final class Exclusions {
  private record Row(Fingerprint key, OwnerRun owner, Tier tier, long generation) {}

  private final Set<Row> rows = ConcurrentHashMap.newKeySet();

  /** Leaves a candidate of a key out from now on. */
  public void add(Fingerprint key, Candidate candidate) {
    rows.add(row(key, candidate));
  }

  /** Whether it is left out. */
  public boolean has(Fingerprint key, Candidate candidate) {
    return !rows.isEmpty() && rows.contains(row(key, candidate));
  }

  private static Row row(Fingerprint key, Candidate candidate) {
    return new Row(key, candidate.owner(), candidate.tier(), candidate.generation());
  }
}
