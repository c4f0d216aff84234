package io.orbitkv.chaos.sim;

import io.orbitkv.core.FactLog;
import io.orbitkv.journal.FactBytes;
import io.orbitkv.state.Effects;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostInvariants;
import io.orbitkv.state.HostState;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * A journal in memory that outlives every crash of the process above it. What is appended is kept
 * as the bytes of its record and folded, from those bytes, into a second state and into the plain
 * {@link FactModel}.
 */
final class SimLog implements FactLog {
  private final List<byte[]> records = new ArrayList<>();
  private final FactBytes bytes = new FactBytes();
  private final HostState folded = new HostState();
  private final FactModel model = new FactModel();
  private final Consumer<Fact> listener;
  private int appendsToCrash = -1;
  private boolean crashAfterAppend;
  private int changes;

  /** New work is refused. */
  boolean full;

  /**
   * @param listener told of each fact before the loop applies it
   */
  SimLog(Consumer<Fact> listener) {
    this.listener = listener;
  }

  @Override
  public long append(long atMicros, HostEvent event) {
    if (appendsToCrash == 0 && !crashAfterAppend) {
      throw new Crash();
    }
    long position = folded.position() + 1;
    Fact fact = new Fact(position, atMicros, event);
    if (full && begins(event)) {
      throw new Violation(Rule.JOURNAL_FULL, "appended to a full journal: " + event);
    }
    byte[] record = bytes.encode(fact);
    Fact decoded = bytes.decode(record);
    if (!decoded.equals(fact)) {
      throw new Violation(Rule.FOLD, "written " + fact + ", read " + decoded);
    }
    records.add(record);
    model.add(decoded);
    listener.accept(decoded);
    folded.apply(decoded, Effects.NONE);
    if (!(event instanceof HostEvent.Observation)) {
      changes++;
    }
    if (appendsToCrash == 0) {
      throw new Crash();
    }
    if (appendsToCrash > 0) {
      appendsToCrash--;
    }
    return position;
  }

  /** Facts that promise something; what a ticket turns into was promised when it was opened. */
  private static boolean begins(HostEvent event) {
    return switch (event) {
      case HostEvent.NamespaceBound _,
          HostEvent.InstanceRegistered _,
          HostEvent.SessionOpened _,
          HostEvent.SlicesReserved _,
          HostEvent.TicketOpened _,
          HostEvent.RestoreStarted _ ->
          true;
      case HostEvent.LeaseGranted e -> e.ticketId() == 0;
      default -> false;
    };
  }

  @Override
  public boolean hasRoom(int facts, long columnBytes) {
    return !full;
  }

  @Override
  public void endBatch() {}

  /**
   * The process dies at an append to come.
   *
   * @param appends that still succeed before it
   * @param after whether the deadly one is in the journal
   */
  void crashAt(int appends, boolean after) {
    appendsToCrash = appends;
    crashAfterAppend = after;
  }

  void noCrash() {
    appendsToCrash = -1;
  }

  /** Facts so far that were no mere observations. */
  int changes() {
    return changes;
  }

  int facts() {
    return records.size();
  }

  FactModel model() {
    return model;
  }

  /** The fold of all records, by the records' bytes. */
  HostState folded() {
    return folded;
  }

  /** What a restart finds: the fold, by way of a checkpoint. */
  HostState recovered() {
    try {
      ByteArrayOutputStream snapshot = new ByteArrayOutputStream(4096);
      folded.writeTo(new DataOutputStream(snapshot));
      HostState state =
          HostState.readFrom(new DataInputStream(new ByteArrayInputStream(snapshot.toByteArray())));
      Violation.require(
          state.digest() == folded.digest(), Rule.FOLD, () -> "a checkpoint changed the digest");
      return state;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Folds every record from the first on and compares. */
  void checkFromScratch() {
    HostState state = new HostState();
    for (byte[] record : records) {
      state.apply(bytes.decode(record), Effects.NONE);
    }
    HostInvariants.checkDeep(state);
    Violation.require(
        state.digest() == folded.digest() && state.position() == folded.position(),
        Rule.FOLD,
        () -> "the journal folds to another digest");
  }
}
