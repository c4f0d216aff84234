package io.orbitkv.manager.workload;

/** What playing requests came to. */
public final class PlayTotals {
  int requests;
  int waits;
  long inputTokens;
  long askedBlocks;
  long hitBlocks;
  long publishedBlocks;
  long presentBlocks;
  long refusedBlocks;
  long restoredBytes;
  long publishedBytes;
  long checkedBytes;
  final Samples queries = new Samples();
  final Samples restores = new Samples();
  final Samples publishes = new Samples();

  PlayTotals() {}

  public int requests() {
    return requests;
  }

  /** Queries that waited for something. */
  public int waits() {
    return waits;
  }

  public long inputTokens() {
    return inputTokens;
  }

  public long askedBlocks() {
    return askedBlocks;
  }

  /** Leading blocks that were there when they were asked for. */
  public long hitBlocks() {
    return hitBlocks;
  }

  /** Hits of all asked blocks, 0 to 1. */
  public double hitRatio() {
    return askedBlocks == 0 ? 0 : (double) hitBlocks / askedBlocks;
  }

  /** Blocks whose bytes the Manager took. */
  public long publishedBlocks() {
    return publishedBlocks;
  }

  /** Published blocks that the Manager had, behind one that it had not. */
  public long presentBlocks() {
    return presentBlocks;
  }

  /** Published blocks that the Manager had no room for. */
  public long refusedBlocks() {
    return refusedBlocks;
  }

  public long restoredBytes() {
    return restoredBytes;
  }

  public long publishedBytes() {
    return publishedBytes;
  }

  /** Restored bytes that were compared; the others would have been a failure. */
  public long checkedBytes() {
    return checkedBytes;
  }

  public Samples queries() {
    return queries;
  }

  public Samples restores() {
    return restores;
  }

  public Samples publishes() {
    return publishes;
  }
}
