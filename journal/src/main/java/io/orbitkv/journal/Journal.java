package io.orbitkv.journal;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostState;
import java.time.Duration;

/**
 * The host's journal, open for appending. Everything but {@link #stats} belongs to the loop thread.
 *
 * <p>A command first asks {@link #hasRoom}; only then may it promise anything. What was promised
 * can always be appended, because the disk blocks behind it are reserved already: a full disk is a
 * refusal before, never a failure after.
 */
public interface Journal extends AutoCloseable {

  /**
   * Appends a fact. When this returns, the fact survives the death of this process; {@link
   * #endBatch} says when it survives a power cut.
   *
   * @param atMicros wall clock, microseconds since 1970
   * @return the fact's position: one more than the one before
   * @throws JournalFull when neither the room asked for nor the reserve for endings is left
   */
  long append(long atMicros, HostEvent event);

  /**
   * Whether facts may be appended and a reserve for endings (releases, aborts, session ends) still
   * stays. Endings themselves are appended without asking.
   *
   * @param facts how many facts, each with a request name and a few numbers
   * @param columnBytes what their columns add: keys, and {@link #BLOCK_COLUMN_BYTES} for each
   *     block; never more than 8 MiB
   */
  boolean hasRoom(int facts, long columnBytes);

  /**
   * An upper bound of what one block adds to a publish beside its key: offset, generation,
   * checksum, run.
   */
  int BLOCK_COLUMN_BYTES = 48;

  /** The position of the last fact, 0 in an empty journal. */
  long lastPosition();

  /**
   * Ends a batch of facts: with {@link SyncMode.EachBatch} they are on the disk when this returns.
   */
  void endBatch();

  /** Figures for metrics and health; any thread. */
  JournalStats stats();

  /** Flushes, gives unused reservations back and ends the background threads. */
  @Override
  void close();

  /**
   * Closes like {@link #close()} and first leaves a checkpoint of the state behind the last fact,
   * so that the next start has nothing to fold. One that cannot be made in time is left out: it
   * only saves time.
   *
   * @param state the fold of every fact; nobody changes it any more
   * @param limit how long the checkpoint may take
   * @return whether there is a checkpoint behind the last fact
   */
  boolean close(HostState state, Duration limit);
}
