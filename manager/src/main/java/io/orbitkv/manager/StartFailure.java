package io.orbitkv.manager;

/** The daemon cannot start: why, and what to do. Everything that was taken is given back. */
public final class StartFailure extends Exception {
  private static final long serialVersionUID = 1L;

  private final String remedy;

  public StartFailure(String message, String remedy) {
    super(message);
    this.remedy = remedy;
  }

  public StartFailure(String message, String remedy, Throwable cause) {
    super(message, cause);
    this.remedy = remedy;
  }

  public String remedy() {
    return remedy;
  }
}
