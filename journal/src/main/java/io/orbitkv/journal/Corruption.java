package io.orbitkv.journal;

/**
 * Damage in a journal.
 *
 * @param kind whether facts follow it
 * @param part number of the part
 * @param fileOffset byte offset in the part's file at which the damage begins
 * @param index Chronicle index inside the part of the record that was expected there
 * @param afterPosition position of the last whole fact before the damage, 0 if none
 * @param lostFacts facts known to be missing; 0 for a tail, of which nothing is known, and where
 *     only bytes between records are damaged
 * @param reason what is wrong with the bytes
 */
public record Corruption(
    Kind kind,
    long part,
    long fileOffset,
    long index,
    long afterPosition,
    long lostFacts,
    String reason) {

  /** Where damage lies. */
  public enum Kind {
    /**
     * Whole facts follow: the journal cannot be folded across it unless a later checkpoint exists.
     */
    MIDDLE,
    /** Nothing follows: an append that did not end, or a damaged end. Recovery cuts it off. */
    TAIL
  }

  /** One line for a person. */
  public String describe() {
    String where =
        "part %d, byte %d, index %d, after position %d"
            .formatted(part, fileOffset, index, afterPosition);
    return switch (kind) {
      case TAIL -> "tail cut at the last whole record (" + where + "): " + reason;
      case MIDDLE ->
          "corruption in the middle (%s), %s lost: %s"
              .formatted(where, lostFacts == 1 ? "1 fact" : lostFacts + " facts", reason);
    };
  }
}
