package io.orbitkv.chaos.sim;

/**
 * Bugs that can be planted, one at a time, to see that the simulator finds them. Each lives in a
 * part that the simulator hands to the loop; the product has no switch for any of them.
 */
public enum Plant {
  FREE_WHILE_LEASED("an evicted extent is freed while a lease still holds it"),
  FREE_DURING_RESTORE("an evicted extent is freed with its lease, while a restore still reads it"),
  VISIBLE_BEFORE_SEALED("a block is found when its first shard has published"),
  REPLY_BEFORE_APPEND("facts reach the journal after the answers that tell of them"),
  DEAD_EPOCH_HONOURED("a session of a dead epoch is taken for its successor"),
  COPY_ENDED_EARLY("a copy is reported as ended before its bytes have moved"),
  CHECKSUM_NOT_VERIFIED("restores do not compare checksums");

  private final String text;

  Plant(String text) {
    this.text = text;
  }

  /** What is wrong with a Manager that has it. */
  public String text() {
    return text;
  }
}
