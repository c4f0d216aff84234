package io.orbitkv.journal;

import io.orbitkv.state.Fact;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Goes through the facts of a journal, part by part, and accounts for every position: a fact that
 * is missing is always reported between the facts around it. Belongs to one thread.
 */
public final class FactCursor implements FactFeed {
  /** What {@link #next} found. */
  public enum Step {
    /** {@link FactCursor#fact} is the next fact. */
    FACT,
    /**
     * Nothing more for now. {@link FactCursor#tornTail} says whether whole records ended before the
     * bytes did.
     */
    END,
    /**
     * {@link FactCursor#corruption} lies before the next fact. Calling {@code next} again goes on
     * behind it.
     */
    DAMAGED
  }

  private final Path dir;
  private final boolean follow;

  /** Facts before this position, or before this time, are passed over until one is found. */
  private long fromPosition;

  private long fromMicros;

  private @Nullable PartReader reader;
  private long part;
  private boolean scanned;

  /** The position of the next fact; 0 when any will do. */
  private long expected;

  /** A record was read and its gap reported; the record itself comes next. */
  private boolean pending;

  private @Nullable UUID journalId;
  private @Nullable Fact fact;
  private @Nullable Corruption corruption;

  /**
   * Bytes behind the last whole record of a part: a tail, unless a later part goes on somewhere
   * else.
   */
  private @Nullable Corruption tail;

  private long cuts;

  FactCursor(Path dir, long firstPart, boolean follow, long fromPosition, long fromMicros) {
    this.dir = dir;
    this.part = firstPart - 1;
    this.follow = follow;
    this.fromPosition = fromPosition;
    this.fromMicros = fromMicros;
    this.expected = firstPart == 1 ? 1 : 0;
  }

  /**
   * Goes on.
   *
   * @throws UnreadableRecord when a newer version wrote the next record
   */
  @Override
  public Step next() throws IOException {
    for (; ; ) {
      PartReader current = reader;
      if (current == null) {
        if (!advance()) {
          return Step.END;
        }
        continue;
      }
      if (pending) {
        pending = false;
        if (accept(current)) {
          return Step.FACT;
        }
        continue;
      }
      switch (current.next()) {
        case RECORD -> {
          Step step = inspect(current);
          if (step != null) {
            return step;
          }
        }
        case DAMAGED -> {
          if (resynchronize(current, current.damage())) {
            return Step.DAMAGED;
          }
          leave(current, current.damage());
        }
        case END -> {
          Step step = atEnd(current);
          if (step != null) {
            return step;
          }
        }
      }
    }
  }

  /** The fact that {@link #next} found. */
  @Override
  public Fact fact() {
    return require(fact);
  }

  /** The damage that {@link #next} found. */
  @Override
  public Corruption corruption() {
    return require(corruption);
  }

  /**
   * After {@link Step#END}: bytes behind the last whole record. On a live journal this may be an
   * append under way.
   */
  @Override
  public Optional<Corruption> tornTail() {
    return Optional.ofNullable(tail);
  }

  /**
   * How many torn tails an earlier recovery had cut: the part behind each goes on where whole
   * records ended.
   */
  @Override
  public long cuts() {
    return cuts;
  }

  /** The position of the next fact, 0 when nothing was read yet. */
  public long expectedPosition() {
    return expected;
  }

  /** Number of the part that the cursor is in. */
  @Override
  public long part() {
    return part;
  }

  /** Chronicle index, inside its part, of the last fact. */
  @Override
  public long index() {
    return reader == null ? -1 : reader.recordIndex();
  }

  /** Byte offset of the last fact in its part's file. */
  @Override
  public long fileOffset() {
    return reader == null ? -1 : reader.recordAt();
  }

  @Override
  public void close() throws IOException {
    if (reader != null) {
      reader.close();
      reader = null;
    }
  }

  /** Opens the next part; false when there is none. */
  private boolean advance() throws IOException {
    for (Map.Entry<Long, Path> entry : Layout.parts(dir).tailMap(part + 1).entrySet()) {
      try {
        reader = PartReader.open(entry.getValue());
      } catch (NoSuchFileException e) {
        continue; // the process died while it made this part, or retention deleted it
      }
      part = entry.getKey();
      scanned = false;
      return true;
    }
    return false;
  }

  /** Looks at a whole record; null when there is nothing to tell. */
  private @Nullable Step inspect(PartReader current) throws IOException {
    RecordView record = current.record();
    if (record.type() == FactType.PART_OPENED) {
      return inspectHeader(current, record);
    }
    long position = record.position();
    if (expected == 0 || position == expected) {
      return accept(current) ? Step.FACT : null;
    }
    if (position < expected) {
      damaged(current.recordAt(), current.recordIndex(), 0, "position " + position + " again");
      closePart(current);
      return Step.DAMAGED;
    }
    String reason =
        tail == null
            ? "positions %d to %d are missing".formatted(expected, position - 1)
            : tail.reason();
    damaged(current.recordAt(), current.recordIndex(), position - expected, reason);
    tail = null;
    expected = position;
    pending = true;
    return Step.DAMAGED;
  }

  /** Takes the record as the next fact; false when it lies before what was asked for. */
  private boolean accept(PartReader current) {
    RecordView record = current.record();
    if (tail != null) {
      cuts += tail.part() == part ? 0 : 1;
      tail = null;
    }
    expected = record.position() + 1;
    if (record.position() < fromPosition || record.atMicros() < fromMicros) {
      return false;
    }
    fromPosition = 0;
    fromMicros = 0;
    try {
      fact = record.fact();
    } catch (UnreadableRecord e) {
      throw new UnreadableRecord(
          "position %d (part %d, byte %d): %s"
              .formatted(record.position(), part, current.recordAt(), e.getMessage()));
    }
    return true;
  }

  private @Nullable Step inspectHeader(PartReader current, RecordView record) throws IOException {
    PartOpened opened = record.partOpened();
    String reason = null;
    if (opened.part() != part) {
      reason = "this directory holds a copy of part " + opened.part();
    } else if (journalId != null && !journalId.equals(opened.journalId())) {
      reason = "this part belongs to another journal, " + opened.journalId();
    }
    if (reason == null) {
      journalId = opened.journalId();
      return null;
    }
    damaged(current.recordAt(), current.recordIndex(), 0, reason);
    closePart(current);
    return Step.DAMAGED;
  }

  /** At a header of 0: the end of what was written, unless whole records follow. Null to go on. */
  private @Nullable Step atEnd(PartReader current) throws IOException {
    boolean successor = laterPartHasFacts();
    if (!successor && follow && scanned) {
      return Step.END;
    }
    if (current.appended()) {
      return null; // since the look at the end
    }
    scanned = true;
    if (tail != null && tail.part() == part) {
      tail = null; // one of an earlier part stays: this part may be prepared and empty
    }
    long behind = current.bytesBehind();
    if (behind > 0) {
      long offset = current.offset();
      String reason = "%d bytes behind an empty document header".formatted(behind);
      Corruption before = corruption;
      long expectedBefore = expected;
      if (resynchronize(current, reason)) {
        if (!current.appendedAt(offset)) {
          return Step.DAMAGED;
        }
        corruption = before; // what was found had been appended meanwhile
        expected = expectedBefore;
        return null;
      }
      tail = tailAt(current, reason);
    }
    if (!successor) {
      return Step.END;
    }
    closePart(current);
    return null;
  }

  private boolean resynchronize(PartReader current, String reason) throws IOException {
    long offset = current.offset();
    long index = current.recordIndex() + 1;
    if (!current.resynchronize(Math.max(1, expected))) {
      return false;
    }
    long found = current.record().position();
    boolean isFact = current.record().type() != FactType.PART_OPENED;
    long lost = isFact && expected != 0 ? found - expected : 0;
    damaged(offset, index, lost, reason);
    if (isFact) {
      expected = found;
    }
    return true;
  }

  /** Nothing whole follows in this part. */
  private void leave(PartReader current, String reason) throws IOException {
    tail = tailAt(current, reason);
    closePart(current);
  }

  private Corruption tailAt(PartReader current, String reason) {
    return new Corruption(
        Corruption.Kind.TAIL,
        part,
        current.offset(),
        current.recordIndex() + 1,
        Math.max(0, expected - 1),
        0,
        reason);
  }

  private void damaged(long offset, long index, long lost, String reason) {
    corruption =
        new Corruption(
            Corruption.Kind.MIDDLE, part, offset, index, Math.max(0, expected - 1), lost, reason);
  }

  private void closePart(PartReader current) throws IOException {
    current.close();
    reader = null;
  }

  /** A part that was only prepared has no fact; the part before it may still be written. */
  private boolean laterPartHasFacts() throws IOException {
    for (Path later : Layout.parts(dir).tailMap(part + 1).values()) {
      if (JournalReader.firstFact(later, !follow).isPresent()) {
        return true;
      }
    }
    return false;
  }

  private static <T> T require(@Nullable T value) {
    if (value == null) {
      throw new IllegalStateException("next() has not found one");
    }
    return value;
  }
}
