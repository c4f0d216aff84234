package io.orbitkv.manager.http;

import io.orbitkv.state.Totals.Counter;

/** What each counter of the fold counts, in words for an operator. */
final class MetricHelp {
  private MetricHelp() {}

  static String of(Counter counter) {
    return switch (counter) {
      case EPOCHS -> "Runs of the daemon on this journal.";
      case INSTANCES_REGISTERED -> "Instances registered.";
      case SESSIONS_OPENED -> "Sessions opened.";
      case REGISTRATIONS_REFUSED -> "Registrations refused, such as for another format.";
      case QUERIES -> "Queries answered by a lease or a miss.";
      case ASKED_BLOCKS -> "Blocks that queries asked for, over all groups.";
      case HIT_BLOCKS -> "Blocks that queries asked for and got.";
      case LEASES_GRANTED -> "Leases granted.";
      case LEASED_BLOCKS -> "Blocks of all leases granted.";
      case TICKETS_OPENED -> "Queries that had to wait.";
      case PUBLISHES_BEGUN -> "Publishes that were given memory.";
      case PUBLISHES_DONE -> "Publishes whose bytes were copied in full.";
      case RESERVED_BLOCKS -> "New blocks begun, sealed later or not.";
      case PUBLISHED_SLICES -> "Slices published: one for each block and shard.";
      case PUBLISHED_BYTES -> "Bytes of the pool that published slices took, padding counted.";
      case SEALED_BLOCKS -> "Blocks sealed: every shard's slice was there.";
      case ABORTED_BLOCKS -> "Blocks that went unsealed because every publish of them was aborted.";
      case RESTORES_STARTED -> "Restores started.";
      case RESTORED_BLOCKS -> "Blocks of restores that were done.";
      case RESTORED_BYTES -> "Bytes of restores that were done.";
      case RESTORE_MICROS -> "Time that restores took that were done, all together.";
      case VERIFY_FAILURES -> "Slices whose bytes were not those published.";
      case EXTENTS_FREED -> "Extents given back to the pool.";
    };
  }
}
