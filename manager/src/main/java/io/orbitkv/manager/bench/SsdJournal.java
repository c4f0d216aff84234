package io.orbitkv.manager.bench;

import io.orbitkv.core.ssd.device.SsdFileSpec;
import io.orbitkv.core.ssd.device.SsdFiles;
import io.orbitkv.core.ssd.device.SsdOpening;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.journal.Journal;
import io.orbitkv.journal.JournalOptions;
import io.orbitkv.journal.Recovered;
import io.orbitkv.journal.Recovery;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.state.Effects;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostState;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/**
 * Writes the journal and the tier's file that a Manager with a full SSD tier leaves when it is
 * killed right before its next checkpoint: a checkpoint of the full tier, and as many facts behind
 * it as there can be.
 *
 * @param facts of the journal
 * @param tailFacts of them behind the checkpoint
 * @param samples first blocks of those that may be asked for, see {@link StoredSamples}
 */
record SsdJournal(long facts, long tailFacts, List<Long> samples) {
  private static final Duration CHECKPOINT_LIMIT = Duration.ofSeconds(60);
  private static final long ROOM_LIMIT_NANOS = 60_000_000_000L;

  /** What a part keeps free for records that are being appended. */
  private static final long PART_REST_BYTES = 1 << 20;

  private static final int MOST_BLOCKS = 64;

  /**
   * Writes both.
   *
   * @param dir the journal's directory
   * @param file the tier's file
   * @param extents how many blocks the tier holds
   * @param mostTailFacts behind the checkpoint
   * @throws Failure if the disk has no room for the file
   */
  static SsdJournal write(Path dir, Path file, int extents, long mostTailFacts) throws IOException {
    UUID tierId = UUID.randomUUID();
    SsdFileSpec spec = new SsdFileSpec(file, SsdFacts.fileBytes(extents));
    switch (SsdFiles.open(List.of(spec), tierId)) {
      case SsdOpening.Opened<SsdFiles>(SsdFiles files) -> files.close();
      case SsdOpening.Refused<SsdFiles>(var refusal) ->
          throw new Failure(refusal.message(), refusal.remedy());
    }
    try (StoredSamples samples = StoredSamples.in(file, extents)) {
      return write(dir, tierId, extents, mostTailFacts, samples);
    } catch (NativeException failed) {
      throw new IOException(file.toString(), failed);
    }
  }

  private static SsdJournal write(
      Path dir, UUID tierId, int extents, long mostTailFacts, StoredSamples samples)
      throws IOException, NativeException {
    SsdFacts facts = new SsdFacts(1, System.currentTimeMillis() * 1_000, tierId, extents, samples);
    HostState state = new HostState();
    Journal filling = open(dir, 1 << 30);
    while (!facts.full()) {
      append(filling, facts, state);
    }
    if (!filling.close(state, CHECKPOINT_LIMIT)) {
      throw new Failure("no checkpoint was made within " + CHECKPOINT_LIMIT.toSeconds() + " s", "");
    }
    long checkpoint = state.position();
    try (Journal killed = open(dir, JournalOptions.DEFAULT.checkpointFacts())) {
      long most = Math.min(mostTailFacts, factsToCheckpoint(state) - 1);
      long part = killed.stats().part();
      long partBytes = JournalOptions.DEFAULT.partBytes() - PART_REST_BYTES;
      while (state.position() - checkpoint < most
          && killed.stats().part() == part
          && killed.stats().partBytes() < partBytes) {
        append(killed, facts, state);
      }
    }
    samples.sync();
    return new SsdJournal(state.position(), state.position() - checkpoint, samples.alive(facts));
  }

  /** With many blocks a checkpoint is due after an eighth as many facts. */
  private static long factsToCheckpoint(HostState state) {
    return Math.max(JournalOptions.DEFAULT.checkpointFacts(), state.liveBlocks() / 8);
  }

  private static Journal open(Path dir, int checkpointFacts) throws IOException {
    JournalOptions options = JournalOptions.DEFAULT.withCheckpointFacts(checkpointFacts);
    return switch (Recovery.open(dir, options, System.currentTimeMillis() * 1_000)) {
      case Recovered.Opened opened -> opened.journal();
      case Recovered.Refused refused -> throw new Failure(refused.message(), refused.remedy());
    };
  }

  private static void append(Journal journal, SsdFacts facts, HostState state) {
    long deadline = System.nanoTime() + ROOM_LIMIT_NANOS;
    while (!journal.hasRoom(1, MOST_BLOCKS * 128L)) {
      if (System.nanoTime() > deadline) {
        throw new Failure("the journal found no room for 60 s", "free some space");
      }
      Thread.onSpinWait();
    }
    HostEvent event = facts.next();
    long atMicros = facts.atMicros();
    state.apply(new Fact(journal.append(atMicros, event), atMicros, event), Effects.NONE);
  }
}
