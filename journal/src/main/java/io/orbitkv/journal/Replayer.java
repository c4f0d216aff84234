package io.orbitkv.journal;

import io.orbitkv.state.BrokenInvariant;
import io.orbitkv.state.Effects;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostInvariants;
import io.orbitkv.state.HostState;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Folds a journal: the newest checkpoint that can be used and the facts behind it, with the same
 * {@code apply} as the daemon. Recovery, the making of checkpoints and {@code orbitkv replay} are
 * all this.
 */
public final class Replayer {
  private static final int PROGRESS_EVERY = 1 << 15;
  private static final int MAX_WRONG_DIGESTS = 100;

  /**
   * A fold of more facts than one for so many blocks does without the digest until it is needed: a
   * walk over all blocks costs less then.
   */
  private static final int BLOCKS_PER_FACT = 8;

  /** Short folds compare every recorded digest. */
  private static final int LONG_FOLD_FACTS = 4_096;

  private final JournalReader reader;
  private final ReplayOptions options;
  private final ReplayHooks hooks;

  private final List<Corruption> corruptions = new ArrayList<>();
  private final List<String> damagedCheckpoints = new ArrayList<>();
  private final List<Replay.WrongDigest> wrongDigests = new ArrayList<>();
  private HostState state = new HostState();
  private long checkpointPosition;
  private long passedFrom;
  private long facts;
  private long digestsVerified;
  private long cuts;

  private boolean digestDeferred;

  /** How many facts were folded when the digest was last known. */
  private long digestKnownAt;

  private @Nullable Corruption tail;

  private Replayer(JournalReader reader, ReplayOptions options, ReplayHooks hooks) {
    this.reader = reader;
    this.options = options;
    this.hooks = hooks;
  }

  /**
   * Folds as asked. What is wrong with the journal is in the result; only a failing disk throws.
   */
  public static Replay run(JournalReader reader, ReplayOptions options, ReplayHooks hooks)
      throws IOException {
    return new Replayer(reader, options, hooks).run();
  }

  private Replay run() throws IOException {
    Replay.Ending ending;
    try {
      chooseStart();
      hooks.starting(state);
      ending = fold();
    } catch (UnreadableRecord e) {
      ending = new Replay.Ending.Unreadable(String.valueOf(e.getMessage()));
    } catch (BrokenInvariant e) {
      ending = new Replay.Ending.Broken(e);
    }
    return new Replay(
        state,
        checkpointPosition,
        passedFrom,
        facts,
        ending,
        List.copyOf(corruptions),
        Optional.ofNullable(tail),
        cuts,
        List.copyOf(damagedCheckpoints),
        digestsVerified,
        List.copyOf(wrongDigests));
  }

  // ---- where to start
  // ----------------------------------------------------------------------------------------------

  private void chooseStart() throws IOException {
    NavigableMap<Long, Path> files = new TreeMap<>(Layout.checkpoints(reader.dir()));
    switch (options.start()) {
      case NEWEST_CHECKPOINT -> {
        for (Map.Entry<Long, Path> entry :
            files.headMap(options.toPosition(), true).descendingMap().entrySet()) {
          if (tryStart(entry.getValue())) {
            return;
          }
        }
      }
      case OLDEST_FACT -> {
        long first = reader.firstPosition();
        if (first <= 1 || first - 1 > options.toPosition()) {
          return;
        }
        for (Map.Entry<Long, Path> entry :
            files.subMap(first - 1, true, options.toPosition(), true).entrySet()) {
          if (tryStart(entry.getValue())) {
            passedFrom = checkpointPosition >= first ? first : 0;
            return;
          }
        }
      }
    }
  }

  private boolean tryStart(Path file) throws IOException {
    try {
      Checkpoint.Header header = Checkpoint.verify(file);
      Optional<UUID> journalId = reader.journalId();
      if (journalId.isPresent() && !journalId.get().equals(header.journalId())) {
        throw new DamagedCheckpoint(file, "it belongs to another journal, " + header.journalId());
      }
      if (header.atMicros() > options.toMicros()) {
        return false;
      }
      state = Checkpoint.load(file, header);
      checkpointPosition = header.position();
      return true;
    } catch (DamagedCheckpoint e) {
      damagedCheckpoints.add(String.valueOf(e.getMessage()));
      return false;
    } catch (NoSuchFileException e) {
      return false; // retention deleted it
    }
  }

  // ---- folding
  // -----------------------------------------------------------------------------------------------------

  private Replay.Ending fold() throws IOException {
    List<PartInfo> parts = reader.parts();
    long totalBytes = parts.stream().mapToLong(PartInfo::diskBytes).sum();
    try (FactFeed cursor = feed()) {
      for (; ; ) {
        if (state.position() >= options.toPosition()) {
          return complete(cursor, totalBytes);
        }
        switch (cursor.next()) {
          case END -> {
            tail = cursor.tornTail().orElse(null);
            return complete(cursor, totalBytes);
          }
          case DAMAGED -> {
            Corruption corruption = cursor.corruption();
            if (corruption.lostFacts() > 0
                && corruption.afterPosition() + corruption.lostFacts() > state.position()) {
              return new Replay.Ending.Corrupted(corruption);
            }
            corruptions.add(corruption);
          }
          case FACT -> {
            Fact fact = cursor.fact();
            if (fact.atMicros() > options.toMicros()) {
              return complete(cursor, totalBytes);
            }
            if (fact.position() != state.position() + 1) {
              return missing(cursor, fact.position());
            }
            step(fact);
            if (facts % PROGRESS_EVERY == 0) {
              hooks.progress(Math.min(totalBytes, doneBytes(parts, cursor)), totalBytes);
              if (hooks.stop()) {
                return new Replay.Ending.Stopped();
              }
            }
          }
        }
      }
    }
  }

  private FactFeed feed() throws IOException {
    FactCursor cursor = reader.from(state.position() + 1);
    return options.readAhead() ? new ReadAhead(cursor) : cursor;
  }

  private void step(Fact fact) {
    if (fact.event() instanceof HostEvent.DigestRecorded recorded && comparesDigest()) {
      compare(fact.position(), recorded.digest());
    }
    deferDigest();
    hooks.before(fact, state);
    state.apply(fact, Effects.NONE);
    facts++;
    if (options.deepCheckEvery() > 0 && facts % options.deepCheckEvery() == 0) {
      HostInvariants.checkDeep(state);
    }
    hooks.after(fact, state);
  }

  private boolean comparesDigest() {
    return !digestDeferred || facts - digestKnownAt >= state.liveBlocks();
  }

  private void deferDigest() {
    if (!digestDeferred
        && options.digests() == ReplayOptions.Digests.SOME
        && options.deepCheckEvery() == 0
        && facts >= LONG_FOLD_FACTS
        && facts * BLOCKS_PER_FACT >= state.liveBlocks()) {
      digestDeferred = true;
      digestKnownAt = facts;
      state.deferDigest();
    }
  }

  private void compare(long position, long recorded) {
    long folded = state.digest();
    if (digestDeferred) {
      digestKnownAt = facts;
      state.deferDigest();
    }
    if (recorded == folded) {
      digestsVerified++;
    } else if (wrongDigests.size() < MAX_WRONG_DIGESTS) {
      wrongDigests.add(new Replay.WrongDigest(position, recorded, folded));
    }
  }

  private Replay.Ending complete(FactFeed cursor, long totalBytes) {
    cuts = cursor.cuts();
    hooks.progress(totalBytes, totalBytes);
    return new Replay.Ending.Complete();
  }

  private Replay.Ending missing(FactFeed cursor, long found) {
    if (state.position() == 0) {
      return new Replay.Ending.NoStart(found);
    }
    return new Replay.Ending.Corrupted(
        new Corruption(
            Corruption.Kind.MIDDLE,
            cursor.part(),
            cursor.fileOffset(),
            cursor.index(),
            state.position(),
            found - state.position() - 1,
            "positions %d to %d are missing".formatted(state.position() + 1, found - 1)));
  }

  private static long doneBytes(List<PartInfo> parts, FactFeed cursor) {
    long done = cursor.fileOffset();
    for (PartInfo part : parts) {
      if (part.number() < cursor.part()) {
        done += part.diskBytes();
      }
    }
    return done;
  }
}
