package io.orbitkv.core;

/** The manager loop met a contradiction and has stopped; the daemon must not go on. */
public final class LoopBroken extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final long position;

  LoopBroken(long position, Throwable cause) {
    super(
        "the manager loop broke at journal position " + position + ": " + cause.getMessage(),
        cause);
    this.position = position;
  }

  /** Journal position of the fact that broke it, or of the last one before. */
  public long position() {
    return position;
  }
}
