package io.orbitkv.journal;

/**
 * A whole, undamaged record that this version cannot understand: written by a newer one, or not by
 * OrbitKV. Never skipped, because a fold without it would be wrong.
 */
public final class UnreadableRecord extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UnreadableRecord(String message) {
    super(message);
  }
}
