package io.orbitkv.journal;

import io.orbitkv.state.HostEvent.RefusalCategory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Opens a journal for a daemon run: folds the newest checkpoint and the facts behind it, cuts a
 * torn tail by beginning a new part behind the last whole fact, and leaves the parts before as they
 * are.
 */
public final class Recovery {
  private static final String SET_ASIDE =
      "restore the directory from a copy, or move it aside and start with an empty one: the cache"
          + " starts empty either way";

  private Recovery() {}

  /**
   * Opens or creates a journal.
   *
   * @param nowMicros wall clock, microseconds since 1970
   * @throws IOException when the disk fails
   */
  public static Recovered open(Path dir, JournalOptions options, long nowMicros)
      throws IOException {
    try {
      return recover(dir, options, nowMicros);
    } catch (IOException e) {
      if (DiskFull.is(e)) {
        return diskFull(dir, options);
      }
      throw e;
    }
  }

  /**
   * Loads what appending needs, which {@link #open} does otherwise; for a thread that has nothing
   * better to do while another one folds.
   */
  public static void prepare() {
    PartWriter.prepare();
  }

  private static Recovered recover(Path dir, JournalOptions options, long nowMicros)
      throws IOException {
    long start = System.nanoTime();
    Optional<JournalOpener> locked = JournalOpener.lock(dir);
    if (locked.isEmpty()) {
      return new Recovered.Refused(
          RefusalCategory.UNAVAILABLE,
          "journal-in-use",
          "another process appends to " + dir,
          "stop the other Manager, or give this one a journal directory of its own");
    }
    try (JournalOpener opener = locked.get()) {
      JournalReader reader = JournalReader.open(dir);
      Replay replay = Replayer.run(reader, ReplayOptions.QUICK, ReplayHooks.NONE);
      Recovered.Refused refusal = refusal(dir, replay);
      if (refusal != null) {
        return refusal;
      }
      UUID journalId = reader.journalId().orElseGet(UUID::randomUUID);
      long lastPosition = replay.state().position();
      Checkpointer checkpointer =
          new Checkpointer(dir, options, journalId, replay.checkpointPosition());
      Optional<Journal> journal =
          opener.append(options, journalId, lastPosition, nowMicros, checkpointer);
      if (journal.isEmpty()) {
        return diskFull(dir, options);
      }
      checkpointer.start(
          journal.get().stats().part(), replay.facts(), lastPosition, replay.state().liveBlocks());
      return new Recovered.Opened(
          replay.state(), journal.get(), report(replay, lastPosition, System.nanoTime() - start));
    }
  }

  private static Recovered.@Nullable Refused refusal(Path dir, Replay replay) {
    return switch (replay.ending()) {
      case Replay.Ending.Complete _ -> null;
      case Replay.Ending.Stopped _ -> throw new IllegalStateException("nobody stops a recovery");
      case Replay.Ending.Corrupted(Corruption corruption) ->
          refused("journal-corrupt", dir + ": " + corruption.describe(), SET_ASIDE);
      case Replay.Ending.NoStart(long first) ->
          refused(
              "journal-incomplete",
              "%s begins at position %d and no checkpoint stands before it".formatted(dir, first),
              SET_ASIDE);
      case Replay.Ending.Unreadable(String message) ->
          refused("journal-newer", dir + ": " + message, "start the version that wrote it");
      case Replay.Ending.Broken(var invariant) ->
          refused("journal-broken", dir + ": " + invariant.getMessage(), SET_ASIDE);
    };
  }

  private static Recovered.Refused diskFull(Path dir, JournalOptions options) {
    return new Recovered.Refused(
        RefusalCategory.RESOURCE,
        "journal-disk-full",
        "the disk of %s has no room for %d bytes of journal"
            .formatted(dir, JournalKeeper.firstReserveBytes(options)),
        "free some space, or choose another directory with --journal");
  }

  private static Recovered.Refused refused(String code, String message, String remedy) {
    return new Recovered.Refused(RefusalCategory.INTERNAL, code, message, remedy);
  }

  private static RecoveryReport report(Replay replay, long lastPosition, long nanos) {
    return new RecoveryReport(
        replay.checkpointPosition(),
        replay.facts(),
        lastPosition,
        replay.tail(),
        replay.corruptions(),
        replay.damagedCheckpoints(),
        replay.wrongDigests(),
        TimeUnit.NANOSECONDS.toMillis(nanos));
  }
}
