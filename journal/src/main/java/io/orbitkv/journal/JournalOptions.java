package io.orbitkv.journal;

import java.time.Duration;

/**
 * How a journal is kept.
 *
 * @param partBytes a part is closed before it exceeds this, 256 KiB to 1 GiB
 * @param partAge a part is closed when its first fact is older than this
 * @param reserveAheadBytes how far ahead of the last fact disk blocks are reserved
 * @param endingsReserveBytes what {@link Journal#hasRoom} leaves for facts that end something
 * @param sync when facts are written to the disk itself
 * @param retention which old parts may be deleted
 * @param reserver how blocks are reserved
 * @param checkpointFacts a checkpoint is made when so many facts lie behind the last one, at least
 *     1
 */
public record JournalOptions(
    long partBytes,
    Duration partAge,
    long reserveAheadBytes,
    long endingsReserveBytes,
    SyncMode sync,
    Retention retention,
    SpaceReserver reserver,
    int checkpointFacts) {

  private static final long MIB = 1 << 20;
  static final long MIN_PART_BYTES = 256 << 10;
  static final long MAX_PART_BYTES = 1 << 30;

  public static final JournalOptions DEFAULT =
      new JournalOptions(
          64 * MIB,
          Duration.ofHours(24),
          64 * MIB,
          4 * MIB,
          SyncMode.DEFAULT,
          Retention.DEFAULT,
          SpaceReserver.ZERO_FILL,
          200_000);

  public JournalOptions {
    if (partBytes < MIN_PART_BYTES || partBytes > MAX_PART_BYTES) {
      throw new IllegalArgumentException("a part has 256 KiB to 1 GiB, not " + partBytes);
    }
    if (partAge.isNegative() || partAge.isZero()) {
      throw new IllegalArgumentException("the age of a part must be positive: " + partAge);
    }
    if (checkpointFacts < 1) {
      throw new IllegalArgumentException(
          "a checkpoint follows on facts, not on " + checkpointFacts);
    }
    if (endingsReserveBytes < 0 || endingsReserveBytes > partBytes / 4) {
      throw new IllegalArgumentException(
          "the reserve for endings is at most a quarter of a part, not " + endingsReserveBytes);
    }
    if (reserveAheadBytes < 2 * endingsReserveBytes) {
      throw new IllegalArgumentException(
          "at least twice the reserve for endings is reserved ahead, not " + reserveAheadBytes);
    }
  }

  public JournalOptions withPartBytes(long bytes) {
    long endings = Math.min(endingsReserveBytes, bytes / 16);
    return new JournalOptions(
        bytes, partAge, reserveAheadBytes, endings, sync, retention, reserver, checkpointFacts);
  }

  public JournalOptions withPartAge(Duration age) {
    return new JournalOptions(
        partBytes,
        age,
        reserveAheadBytes,
        endingsReserveBytes,
        sync,
        retention,
        reserver,
        checkpointFacts);
  }

  public JournalOptions withSync(SyncMode mode) {
    return new JournalOptions(
        partBytes,
        partAge,
        reserveAheadBytes,
        endingsReserveBytes,
        mode,
        retention,
        reserver,
        checkpointFacts);
  }

  public JournalOptions withRetention(Retention policy) {
    return new JournalOptions(
        partBytes,
        partAge,
        reserveAheadBytes,
        endingsReserveBytes,
        sync,
        policy,
        reserver,
        checkpointFacts);
  }

  public JournalOptions withCheckpointFacts(int facts) {
    return new JournalOptions(
        partBytes,
        partAge,
        reserveAheadBytes,
        endingsReserveBytes,
        sync,
        retention,
        reserver,
        facts);
  }

  public JournalOptions withReserver(SpaceReserver port) {
    return new JournalOptions(
        partBytes,
        partAge,
        reserveAheadBytes,
        endingsReserveBytes,
        sync,
        retention,
        port,
        checkpointFacts);
  }
}
