package io.orbitkv.journal;

import io.orbitkv.state.Fact;
import java.io.Closeable;
import java.io.IOException;
import java.util.Optional;

/** The facts of a journal in order, and what is wrong between them. Belongs to one thread. */
interface FactFeed extends Closeable {
  /** Goes on; see {@link FactCursor#next}. */
  FactCursor.Step next() throws IOException;

  /** The fact that {@link #next} found. */
  Fact fact();

  /** The damage that {@link #next} found. */
  Corruption corruption();

  /** After the end: bytes behind the last whole record. */
  Optional<Corruption> tornTail();

  /** How many torn tails an earlier recovery had cut, so far. */
  long cuts();

  /** Number of the part of the last fact. */
  long part();

  /** Chronicle index, inside its part, of the last fact. */
  long index();

  /** Byte offset of the last fact in its part's file. */
  long fileOffset();
}
