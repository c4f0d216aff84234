package io.orbitkv.core;

import io.orbitkv.core.eviction.Eviction;
import io.orbitkv.core.pool.ExtentAllocator;
import java.util.ArrayList;
import java.util.List;

/**
 * The bounds that the manager loop keeps.
 *
 * @param poolBytes size of the DRAM pool, at least 512
 * @param eviction which block goes first
 * @param verify whether restores compare checksums
 * @param globalBudgetBytes the most allocated bytes that all leases, waiting queries and restores
 *     may hold
 * @param instanceBudgetBytes the same for one instance
 * @param leaseTtlMillis how long a lease lasts unless it is released
 * @param ticketMillis how long a query waits that does not say
 * @param maxTicketMillis the longest a query may wait
 * @param unsealedTtlMillis how long a block may lack a shard's slice before it is dropped
 * @param registerWaitMillis how long a registration waits for its predecessor to drain
 * @param inlineCopyBytes copies up to here run on the loop thread
 * @param digestEveryFacts facts between two recorded digests
 * @param journalMissKeys the most missing keys of one group that a fact lists
 * @param maxSessions open sessions of the host
 * @param maxInstances registered instances of the host
 * @param maxTicketsPerSession pending tickets of one session
 * @param maxLeasesPerSession open leases of one session
 * @param maxWaitingRegistrations registrations that wait for a predecessor
 * @param maxBlocksPerRequest keys of one query or publish, blocks of one restore, all groups
 *     together
 * @param maxCopiesInFlight copies submitted to the workers and not yet ended; the executor must
 *     take as many
 */
public record HostConfig(
    long poolBytes,
    Eviction eviction,
    boolean verify,
    long globalBudgetBytes,
    long instanceBudgetBytes,
    long leaseTtlMillis,
    long ticketMillis,
    long maxTicketMillis,
    long unsealedTtlMillis,
    long registerWaitMillis,
    long inlineCopyBytes,
    int digestEveryFacts,
    int journalMissKeys,
    int maxSessions,
    int maxInstances,
    int maxTicketsPerSession,
    int maxLeasesPerSession,
    int maxWaitingRegistrations,
    int maxBlocksPerRequest,
    int maxCopiesInFlight) {

  /**
   * Checks every bound.
   *
   * @throws IllegalArgumentException if a value is out of range, naming every such value
   */
  public HostConfig {
    List<String> problems = new ArrayList<>();
    atLeast(problems, "poolBytes", poolBytes, ExtentAllocator.GRANULE_BYTES);
    atLeast(problems, "globalBudgetBytes", globalBudgetBytes, 1);
    atLeast(problems, "instanceBudgetBytes", instanceBudgetBytes, 1);
    atLeast(problems, "leaseTtlMillis", leaseTtlMillis, 1);
    atLeast(problems, "ticketMillis", ticketMillis, 1);
    atLeast(problems, "maxTicketMillis", maxTicketMillis, ticketMillis);
    atLeast(problems, "unsealedTtlMillis", unsealedTtlMillis, 1);
    atLeast(problems, "registerWaitMillis", registerWaitMillis, 1);
    atLeast(problems, "inlineCopyBytes", inlineCopyBytes, 0);
    atLeast(problems, "digestEveryFacts", digestEveryFacts, 1);
    atLeast(problems, "journalMissKeys", journalMissKeys, 0);
    atLeast(problems, "maxSessions", maxSessions, 1);
    atLeast(problems, "maxInstances", maxInstances, 1);
    atLeast(problems, "maxTicketsPerSession", maxTicketsPerSession, 1);
    atLeast(problems, "maxLeasesPerSession", maxLeasesPerSession, 1);
    atLeast(problems, "maxWaitingRegistrations", maxWaitingRegistrations, 0);
    atLeast(problems, "maxBlocksPerRequest", maxBlocksPerRequest, 1);
    atLeast(problems, "maxCopiesInFlight", maxCopiesInFlight, 1);
    if (!problems.isEmpty()) {
      throw new IllegalArgumentException(String.join("; ", problems));
    }
  }

  /** By hand: what a record's own costs a start is forty classes that the JVM writes for it. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(512).append("HostConfig[");
    item(text, "poolBytes", poolBytes);
    text.append("eviction=").append(eviction).append(", verify=").append(verify).append(", ");
    item(text, "globalBudgetBytes", globalBudgetBytes);
    item(text, "instanceBudgetBytes", instanceBudgetBytes);
    item(text, "leaseTtlMillis", leaseTtlMillis);
    item(text, "ticketMillis", ticketMillis);
    item(text, "maxTicketMillis", maxTicketMillis);
    item(text, "unsealedTtlMillis", unsealedTtlMillis);
    item(text, "registerWaitMillis", registerWaitMillis);
    item(text, "inlineCopyBytes", inlineCopyBytes);
    item(text, "digestEveryFacts", digestEveryFacts);
    item(text, "journalMissKeys", journalMissKeys);
    item(text, "maxSessions", maxSessions);
    item(text, "maxInstances", maxInstances);
    item(text, "maxTicketsPerSession", maxTicketsPerSession);
    item(text, "maxLeasesPerSession", maxLeasesPerSession);
    item(text, "maxWaitingRegistrations", maxWaitingRegistrations);
    item(text, "maxBlocksPerRequest", maxBlocksPerRequest);
    item(text, "maxCopiesInFlight", maxCopiesInFlight);
    text.setLength(text.length() - 2);
    return text.append(']').toString();
  }

  private static void item(StringBuilder text, String name, long value) {
    text.append(name).append('=').append(value).append(", ");
  }

  private static void atLeast(List<String> problems, String name, long value, long least) {
    if (value < least) {
      problems.add(name + "=" + value + ": must be at least " + least);
    }
  }

  /** The defaults for a pool of that size. */
  public static Builder forPool(long poolBytes) {
    return new Builder(poolBytes);
  }

  /** Changes some defaults. */
  public static final class Builder {
    private final long poolBytes;
    private Eviction eviction = Eviction.LRU;
    private boolean verify = true;
    private long globalBudgetBytes;
    private long instanceBudgetBytes;
    private long leaseTtlMillis = 600_000;
    private long ticketMillis = 10_000;
    private long maxTicketMillis = 60_000;
    private long unsealedTtlMillis = 60_000;
    private long registerWaitMillis = 5_000;
    private long inlineCopyBytes = 64 << 10;
    private int digestEveryFacts = 10_000;
    private int journalMissKeys = 64;
    private int maxSessions = 1_024;
    private int maxInstances = 256;
    private int maxTicketsPerSession = 128;
    private int maxLeasesPerSession = 4_096;
    private int maxWaitingRegistrations = 64;
    private int maxBlocksPerRequest = 32_768;
    private int maxCopiesInFlight = 256;

    private Builder(long poolBytes) {
      this.poolBytes = poolBytes;
      this.globalBudgetBytes = Math.max(1, poolBytes);
      this.instanceBudgetBytes = Math.max(1, poolBytes);
    }

    public Builder eviction(Eviction value) {
      eviction = value;
      return this;
    }

    public Builder verify(boolean value) {
      verify = value;
      return this;
    }

    public Builder globalBudgetBytes(long value) {
      globalBudgetBytes = value;
      return this;
    }

    public Builder instanceBudgetBytes(long value) {
      instanceBudgetBytes = value;
      return this;
    }

    public Builder leaseTtlMillis(long value) {
      leaseTtlMillis = value;
      return this;
    }

    public Builder ticketMillis(long value) {
      ticketMillis = value;
      return this;
    }

    public Builder maxTicketMillis(long value) {
      maxTicketMillis = value;
      return this;
    }

    public Builder unsealedTtlMillis(long value) {
      unsealedTtlMillis = value;
      return this;
    }

    public Builder registerWaitMillis(long value) {
      registerWaitMillis = value;
      return this;
    }

    public Builder inlineCopyBytes(long value) {
      inlineCopyBytes = value;
      return this;
    }

    public Builder digestEveryFacts(int value) {
      digestEveryFacts = value;
      return this;
    }

    public Builder journalMissKeys(int value) {
      journalMissKeys = value;
      return this;
    }

    public Builder maxSessions(int value) {
      maxSessions = value;
      return this;
    }

    public Builder maxInstances(int value) {
      maxInstances = value;
      return this;
    }

    public Builder maxTicketsPerSession(int value) {
      maxTicketsPerSession = value;
      return this;
    }

    public Builder maxLeasesPerSession(int value) {
      maxLeasesPerSession = value;
      return this;
    }

    public Builder maxWaitingRegistrations(int value) {
      maxWaitingRegistrations = value;
      return this;
    }

    public Builder maxBlocksPerRequest(int value) {
      maxBlocksPerRequest = value;
      return this;
    }

    public Builder maxCopiesInFlight(int value) {
      maxCopiesInFlight = value;
      return this;
    }

    /**
     * The checked bounds.
     *
     * @throws IllegalArgumentException if a value is out of range
     */
    public HostConfig build() {
      return new HostConfig(
          poolBytes,
          eviction,
          verify,
          globalBudgetBytes,
          instanceBudgetBytes,
          leaseTtlMillis,
          ticketMillis,
          maxTicketMillis,
          unsealedTtlMillis,
          registerWaitMillis,
          inlineCopyBytes,
          digestEveryFacts,
          journalMissKeys,
          maxSessions,
          maxInstances,
          maxTicketsPerSession,
          maxLeasesPerSession,
          maxWaitingRegistrations,
          maxBlocksPerRequest,
          maxCopiesInFlight);
    }
  }
}
