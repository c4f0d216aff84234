package io.orbitkv.journal;

/**
 * A fact was appended for which no room had been promised, and the reserve for endings is used up.
 */
public final class JournalFull extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  JournalFull(String message) {
    super(message);
  }
}
