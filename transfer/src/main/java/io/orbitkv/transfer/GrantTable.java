package io.orbitkv.transfer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * The grants of one pool, and what reads them now.
 *
 * <p>A grant has three ends. When it expires it admits nothing new, and stays. When it is revoked
 * it admits nothing new, and goes when the last read that it admitted has let go of the pool: that
 * is the proof of drain. No clock ever makes it go, because a read may be under way.
 */
public final class GrantTable {
  private final UUID runtime;
  private final long poolBytes;
  private final int maxGrants;
  private final LongSupplier nanoClock;
  private final RandomGenerator random;
  private final ConcurrentHashMap<UUID, Entry> entries = new ConcurrentHashMap<>();

  /**
   * Makes an empty table.
   *
   * @param runtime this run of the source
   * @param poolBytes the pool's size
   * @param maxGrants how many may be live or draining at a time
   * @param nanoClock monotonic, in nanoseconds
   * @param random for ids and secrets: a secure one
   */
  public GrantTable(
      UUID runtime, long poolBytes, int maxGrants, LongSupplier nanoClock, RandomGenerator random) {
    this.runtime = runtime;
    this.poolBytes = poolBytes;
    this.maxGrants = maxGrants;
    this.nanoClock = nanoClock;
    this.random = random;
  }

  /** Which run of the source gives these grants. */
  public UUID runtime() {
    return runtime;
  }

  /**
   * Grants reads of some ranges; empty when the table is full.
   *
   * @param ranges of the pool, at least one
   * @param validFor how long it admits new reads
   */
  public Optional<Grant> open(List<PoolRange> ranges, Duration validFor) {
    if (ranges.isEmpty()) {
      throw new IllegalArgumentException("a grant has a range");
    }
    for (PoolRange each : ranges) {
      if (each.end() > poolBytes) {
        throw new IllegalArgumentException(each + " is not in a pool of " + poolBytes + " bytes");
      }
    }
    if (entries.size() >= maxGrants) {
      return Optional.empty();
    }
    Grant grant =
        new Grant(
            new UUID(random.nextLong(), random.nextLong()),
            new Secret(random.nextLong(), random.nextLong()),
            runtime,
            ranges,
            validFor);
    entries.put(grant.id(), new Entry(grant, nanoClock.getAsLong() + validFor.toNanos()));
    return Optional.of(grant);
  }

  /**
   * Admits nothing new and completes when nothing reads it any more. Revoking again gives the same
   * future; a grant that is not there has drained.
   */
  public CompletableFuture<DrainProof> revoke(UUID id) {
    Entry entry = entries.get(id);
    return entry == null
        ? CompletableFuture.completedFuture(new DrainProof(id, 0))
        : entry.revoke();
  }

  /** The grants that admit nothing new because of their age, for their owner to revoke. */
  public List<UUID> expired() {
    List<UUID> result = new ArrayList<>();
    long now = nanoClock.getAsLong();
    for (Entry each : entries.values()) {
      if (each.hasExpired(now)) {
        result.add(each.grant.id());
      }
    }
    return result;
  }

  /** How many grants are live or draining. */
  public int size() {
    return entries.size();
  }

  /** How many admitted reads have not let go. */
  public long readsInFlight() {
    return entries.values().stream().mapToLong(Entry::inFlight).sum();
  }

  /** Admits a read of some ranges, or says why not. Nothing is served without one. */
  public Admission admit(UUID grant, Secret secret, UUID ofRuntime, List<PoolRange> ranges) {
    if (!ofRuntime.equals(runtime)) {
      return new Admission.Refused(Refusal.FOREIGN_RUNTIME);
    }
    Entry entry = entries.get(grant);
    if (entry == null) {
      return new Admission.Refused(Refusal.UNKNOWN_GRANT);
    }
    return entry.admit(secret, ranges);
  }

  /** What a request for a read gets. */
  public sealed interface Admission {

    /** The ranges stay as they are until it is released, once. */
    final class Admitted implements Admission {
      private final Entry entry;
      private boolean released;

      private Admitted(Entry entry) {
        this.entry = entry;
      }

      /** Nothing touches the ranges for this read any more. */
      public synchronized void release() {
        if (released) {
          throw new IllegalStateException("released twice: a read of " + entry.grant.id());
        }
        released = true;
        entry.release();
      }
    }

    /** Nothing is served. */
    record Refused(Refusal refusal) implements Admission {}
  }

  private final class Entry {
    private final Grant grant;
    private final long expiresAtNanos;
    private final CompletableFuture<DrainProof> drained = new CompletableFuture<>();
    private boolean revoked;
    private long inFlight;
    private long admitted;

    Entry(Grant grant, long expiresAtNanos) {
      this.grant = grant;
      this.expiresAtNanos = expiresAtNanos;
    }

    boolean hasExpired(long now) {
      return now - expiresAtNanos >= 0;
    }

    synchronized long inFlight() {
      return inFlight;
    }

    synchronized Admission admit(Secret secret, List<PoolRange> ranges) {
      if (!grant.secret().matches(secret)) {
        return new Admission.Refused(Refusal.WRONG_SECRET);
      }
      if (revoked) {
        return new Admission.Refused(Refusal.REVOKED);
      }
      if (hasExpired(nanoClock.getAsLong())) {
        return new Admission.Refused(Refusal.EXPIRED);
      }
      for (PoolRange each : ranges) {
        if (grant.ranges().stream().noneMatch(granted -> granted.covers(each))) {
          return new Admission.Refused(Refusal.OUTSIDE_GRANT);
        }
      }
      inFlight++;
      admitted++;
      return new Admission.Admitted(this);
    }

    void release() {
      synchronized (this) {
        inFlight--;
        if (!revoked || inFlight > 0) {
          return;
        }
      }
      leave();
    }

    CompletableFuture<DrainProof> revoke() {
      synchronized (this) {
        if (revoked) {
          return drained;
        }
        revoked = true;
        if (inFlight > 0) {
          return drained;
        }
      }
      leave();
      return drained;
    }

    private void leave() {
      entries.remove(grant.id());
      drained.complete(new DrainProof(grant.id(), admitted));
    }
  }
}
