package io.orbitkv.state;

import io.orbitkv.state.HostEvent.AbortReason;
import io.orbitkv.state.HostEvent.AdoptionFailure;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.GrantEnd;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.HostEvent.RemoteFailure;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.SsdEvictionCause;
import io.orbitkv.state.HostEvent.TicketEnd;
import java.util.List;

/**
 * What happened since the journal began, counted by the fold: metrics and the command line read
 * these, so they agree with a replay by construction. Counters never fall.
 */
public final class Totals {

  /** A counter that has no further breakdown. New ones go to the end: checkpoints hold them. */
  public enum Counter {
    EPOCHS,
    INSTANCES_REGISTERED,
    SESSIONS_OPENED,
    REGISTRATIONS_REFUSED,
    /** Queries that were answered by a lease or by a miss. */
    QUERIES,
    /** Blocks that queries asked for, over all groups. */
    ASKED_BLOCKS,
    /** Asked blocks that were found; asked less hit is missed. */
    HIT_BLOCKS,
    LEASES_GRANTED,
    LEASED_BLOCKS,
    TICKETS_OPENED,
    PUBLISHES_BEGUN,
    PUBLISHES_DONE,
    /** New blocks, sealed or not. */
    RESERVED_BLOCKS,
    PUBLISHED_SLICES,
    /** Allocated bytes of published slices. */
    PUBLISHED_BYTES,
    SEALED_BLOCKS,
    /** Blocks that went without ever being sealed because every publish of them was aborted. */
    ABORTED_BLOCKS,
    RESTORES_STARTED,
    /** Blocks of restores that are done. */
    RESTORED_BLOCKS,
    /** Bytes of restores that are done. */
    RESTORED_BYTES,
    /** Duration of restores that are done, microseconds. */
    RESTORE_MICROS,
    VERIFY_FAILURES,
    EXTENTS_FREED
  }

  /** A counter of the SSD tier. New ones go to the end: checkpoints hold them. */
  public enum SsdCounter {
    OPENED,
    WRITTEN_BLOCKS,
    /** Allocated bytes of SSD copies. */
    WRITTEN_BYTES,
    /** Blocks whose DRAM copy was given up for the one on SSD. */
    DEMOTED_BLOCKS,
    /** Times that blocks were set out to be read back together. */
    LOADS,
    LOADED_BLOCKS,
    LOADED_BYTES,
    /** Duration of reads that ended well, microseconds. */
    LOAD_MICROS,
    DEGRADED,
    RECOVERED
  }

  /**
   * A counter of a pool that outlives the daemon. New ones go to the end: checkpoints hold them.
   */
  public enum PoolCounter {
    OPENED,
    /** Blocks whose bytes an earlier run had left in the pool. */
    KEPT_BLOCKS,
    ADOPTED_BLOCKS,
    /** Allocated bytes of adopted blocks. */
    ADOPTED_BYTES,
    /** Time that verifying them took, microseconds. */
    ADOPT_MICROS
  }

  /** A counter of work with other hosts. New ones go to the end: checkpoints hold them. */
  public enum RemoteCounter {
    GRANTS_OPENED,
    GRANTED_BLOCKS,
    /** Allocated bytes of granted blocks. */
    GRANTED_BYTES,
    /** Reads that closed grants had admitted. */
    GRANT_READS,
    READS_BEGUN,
    READS_ENDED,
    /** Reads that failed while bytes could still come. */
    QUARANTINES,
    FETCHED_BLOCKS,
    /** Allocated bytes of fetched blocks. */
    FETCHED_BYTES,
    /** Duration of all reads that ended, microseconds. */
    FETCH_MICROS
  }

  final Tally<Counter> counters = new Tally<>(Counter.class);
  final Tally<EvictionCause> evictedBlocks = new Tally<>(EvictionCause.class);
  final Tally<AbortReason> publishesAborted = new Tally<>(AbortReason.class);
  final Tally<LeaseEnd> leasesEnded = new Tally<>(LeaseEnd.class);
  final Tally<TicketEnd> ticketsClosed = new Tally<>(TicketEnd.class);
  final Tally<RestoreOutcome> restoresFinished = new Tally<>(RestoreOutcome.class);
  final Tally<SessionEnd> sessionsClosed = new Tally<>(SessionEnd.class);
  final Tally<RefusalCategory> refusals = new Tally<>(RefusalCategory.class);
  final Tally<SsdCounter> ssdCounters = new Tally<>(SsdCounter.class);
  final Tally<SsdEvictionCause> ssdEvictedBlocks = new Tally<>(SsdEvictionCause.class);
  final Tally<LoadFailure> loadsFailed = new Tally<>(LoadFailure.class);
  final Tally<PoolCounter> poolCounters = new Tally<>(PoolCounter.class);
  final Tally<AdoptionFailure> adoptionsFailed = new Tally<>(AdoptionFailure.class);

  final Tally<RemoteCounter> remoteCounters = new Tally<>(RemoteCounter.class);
  final Tally<GrantEnd> grantsClosed = new Tally<>(GrantEnd.class);
  final Tally<RemoteFailure> fetchesFailed = new Tally<>(RemoteFailure.class);

  Totals() {}

  public long get(Counter counter) {
    return counters.get(counter);
  }

  /** Asked blocks that were not found. */
  public long missedBlocks() {
    return get(Counter.ASKED_BLOCKS) - get(Counter.HIT_BLOCKS);
  }

  public long evictedBlocks(EvictionCause cause) {
    return evictedBlocks.get(cause);
  }

  public long publishesAborted(AbortReason reason) {
    return publishesAborted.get(reason);
  }

  public long leasesEnded(LeaseEnd reason) {
    return leasesEnded.get(reason);
  }

  public long ticketsClosed(TicketEnd outcome) {
    return ticketsClosed.get(outcome);
  }

  public long restoresFinished(RestoreOutcome outcome) {
    return restoresFinished.get(outcome);
  }

  public long sessionsClosed(SessionEnd reason) {
    return sessionsClosed.get(reason);
  }

  public long refusals(RefusalCategory category) {
    return refusals.get(category);
  }

  public long get(SsdCounter counter) {
    return ssdCounters.get(counter);
  }

  public long ssdEvictedBlocks(SsdEvictionCause cause) {
    return ssdEvictedBlocks.get(cause);
  }

  /** Blocks that did not come back from SSD. */
  public long loadsFailed(LoadFailure reason) {
    return loadsFailed.get(reason);
  }

  public long get(PoolCounter counter) {
    return poolCounters.get(counter);
  }

  /** Blocks of an earlier run whose bytes were not what they must be. */
  public long adoptionsFailed(AdoptionFailure reason) {
    return adoptionsFailed.get(reason);
  }

  public long get(RemoteCounter counter) {
    return remoteCounters.get(counter);
  }

  public long grantsClosed(GrantEnd reason) {
    return grantsClosed.get(reason);
  }

  /** Blocks that did not come from other hosts. */
  public long fetchesFailed(RemoteFailure reason) {
    return fetchesFailed.get(reason);
  }

  void add(RemoteCounter counter, long amount) {
    remoteCounters.add(counter, amount);
  }

  void add(PoolCounter counter, long amount) {
    poolCounters.add(counter, amount);
  }

  void add(SsdCounter counter, long amount) {
    ssdCounters.add(counter, amount);
  }

  void add(Counter counter, long amount) {
    counters.add(counter, amount);
  }

  /** The SSD tier's counters in an order that is part of the checkpoint format. */
  List<long[]> ssdSections() {
    return List.of(ssdCounters.counts, ssdEvictedBlocks.counts, loadsFailed.counts);
  }

  /** The same of a pool that outlives the daemon. */
  List<long[]> poolSections() {
    return List.of(poolCounters.counts, adoptionsFailed.counts);
  }

  /** The same of work with other hosts. */
  List<long[]> remoteSections() {
    return List.of(remoteCounters.counts, grantsClosed.counts, fetchesFailed.counts);
  }

  /** Every other counter in an order that is part of the checkpoint format. */
  List<long[]> sections() {
    return List.of(
        counters.counts,
        evictedBlocks.counts,
        publishesAborted.counts,
        leasesEnded.counts,
        ticketsClosed.counts,
        restoresFinished.counts,
        sessionsClosed.counts,
        refusals.counts);
  }

  long digestPart() {
    long hash = 0;
    for (long[] section : sections()) {
      for (long value : section) {
        hash = Mix.chain(hash, value);
      }
    }
    return Mix.mix(hash)
        + digestOfUsed(ssdSections())
        + 31 * digestOfUsed(poolSections())
        + 37 * digestOfUsed(remoteSections());
  }

  /** 0 for a host that never had such a thing, so that its digest is what it was before it. */
  private static long digestOfUsed(List<long[]> sections) {
    long hash = 0;
    boolean used = false;
    for (long[] section : sections) {
      for (long value : section) {
        hash = Mix.chain(hash, value);
        used |= value != 0;
      }
    }
    return used ? Mix.mix(hash) : 0;
  }
}
