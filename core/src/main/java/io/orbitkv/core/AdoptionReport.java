package io.orbitkv.core;

/**
 * How far this run is with the blocks that an earlier one left in the pool, told by the loop and
 * read by any thread.
 */
public final class AdoptionReport {
  private volatile long keptBlocks;
  private volatile long waitingBlocks;
  private volatile long adoptedBlocks;
  private volatile long damagedBlocks;

  void begin(long blocks) {
    keptBlocks = blocks;
    waitingBlocks = blocks;
  }

  /**
   * @param waiting blocks nobody has looked at
   * @param adopted of this run
   * @param damaged of this run
   */
  void progress(long waiting, long adopted, long damaged) {
    adoptedBlocks = adopted;
    damagedBlocks = damaged;
    waitingBlocks = waiting;
  }

  /** Blocks that lay in the pool when this run began. */
  public long keptBlocks() {
    return keptBlocks;
  }

  /** Of these, blocks that nobody has verified yet; 0 when the work is done. */
  public long waitingBlocks() {
    return waitingBlocks;
  }

  /** Of these, blocks that were whole and can be leased. */
  public long adoptedBlocks() {
    return adoptedBlocks;
  }

  /** Of these, blocks whose bytes were not what was published. */
  public long damagedBlocks() {
    return damagedBlocks;
  }
}
