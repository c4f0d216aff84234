package io.orbitkv.manager.cli;

/** What a command returns to the shell. */
public final class ExitCode {
  public static final int OK = 0;

  /** It failed, was refused, or the answer is no. */
  public static final int FAILED = 1;

  /** The command line is wrong. */
  public static final int USAGE = 2;

  private ExitCode() {}
}
