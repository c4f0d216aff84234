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
  CHECKSUM_NOT_VERIFIED("restores do not compare checksums"),
  SSD_WRITTEN_EARLY("a block counts as on SSD when its write is submitted"),
  SSD_SHORT_WRITE_SEALED("a block counts as on SSD though its write was short or failed"),
  SSD_CHECKSUM_NOT_VERIFIED("what comes back from SSD is not compared with its checksum"),
  SSD_REUSED_WHILE_READ("an extent on SSD is given to others while an evicted block is read back"),
  SSD_GENERATION_KEPT("an extent on SSD keeps its generation when it is used again"),
  SSD_FREED_BEFORE_FACT("a copy on SSD is overwritten before the fact that it is gone"),
  SSD_READ_NOT_HELD("the memory of a read is freed when the query that wanted it ends"),
  SSD_WRITE_NOT_HELD("the memory of an evicted block is freed while the disk writes it"),
  SSD_FORGOTTEN_AT_RESTART("a restart takes what lies on SSD for free"),
  SSD_HANG_UNSEEN("nobody notices that the disk hangs");

  private final String text;

  Plant(String text) {
    this.text = text;
  }

  /** What is wrong with a Manager that has it. */
  public String text() {
    return text;
  }

  /** Whether it frees extents of the pool before their time. */
  boolean freesEarly() {
    return switch (this) {
      case FREE_WHILE_LEASED, FREE_DURING_RESTORE, SSD_READ_NOT_HELD, SSD_WRITE_NOT_HELD -> true;
      default -> false;
    };
  }
}
