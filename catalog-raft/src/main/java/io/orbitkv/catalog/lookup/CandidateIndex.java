package io.orbitkv.catalog.lookup;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import io.orbitkv.catalog.inventory.Candidate;
import io.orbitkv.catalog.inventory.Fingerprint;
import java.time.Duration;
import java.util.List;

/**
 * Candidates that were found a short while ago, bounded in number and age. Only finds are held: a
 * key that nobody had may be published at any moment.
 */
public final class CandidateIndex {
  private final Cache<Fingerprint, List<Candidate>> found;

  /**
   * An empty index.
   *
   * @param maxKeys keys that are held at most
   * @param maxAge how long a find is believed
   * @param ticker nanoseconds that never fall
   */
  public CandidateIndex(long maxKeys, Duration maxAge, Ticker ticker) {
    found =
        Caffeine.newBuilder()
            .maximumSize(maxKeys)
            .expireAfterWrite(maxAge)
            .ticker(ticker)
            .executor(Runnable::run)
            .build();
  }

  /** What is held of a key, possibly nothing. */
  public List<Candidate> get(Fingerprint key) {
    List<Candidate> held = found.getIfPresent(key);
    return held == null ? List.of() : held;
  }

  /** Holds a find; nothing is held of a key without candidates. */
  public void put(Fingerprint key, List<Candidate> candidates) {
    if (!candidates.isEmpty()) {
      found.put(key, List.copyOf(candidates));
    }
  }

  /** Forgets a key. */
  public void forget(Fingerprint key) {
    found.invalidate(key);
  }

  /** How many keys are held, about. */
  public long size() {
    found.cleanUp();
    return found.estimatedSize();
  }
}
