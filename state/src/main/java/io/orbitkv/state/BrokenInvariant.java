package io.orbitkv.state;

/** A fact contradicts the state it is applied to. The daemon stops; replay reports the position. */
public final class BrokenInvariant extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final long position;

  public BrokenInvariant(long position, String message) {
    super("journal position " + position + ": " + message);
    this.position = position;
  }

  /** The position of the fact that could not be applied. */
  public long position() {
    return position;
  }
}
