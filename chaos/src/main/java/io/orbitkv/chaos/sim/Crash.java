package io.orbitkv.chaos.sim;

/** The process dies at this point: what is in the journal stays, everything else is gone. */
final class Crash extends Error {
  private static final long serialVersionUID = 1L;

  Crash() {
    super("the process was killed", null, false, false);
  }
}
