package io.orbitkv.manager.cli;

/** Ends a command with {@link ExitCode#FAILED}, one line for a person, and what to do about it. */
public final class Failure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String remedy;

  /**
   * @param remedy what to do about it, empty if there is nothing
   */
  public Failure(String message, String remedy) {
    super(message);
    this.remedy = remedy;
  }

  public Failure(String message, String remedy, Throwable cause) {
    super(message, cause);
    this.remedy = remedy;
  }

  public String remedy() {
    return remedy;
  }
}
