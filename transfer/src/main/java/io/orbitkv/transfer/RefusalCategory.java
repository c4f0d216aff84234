package io.orbitkv.transfer;

/** What kind of reason a refusal has. */
public enum RefusalCategory {
  /** The request is wrong and stays so. */
  USER,
  /** A bound is reached; later it may do. */
  RESOURCE,
  /** What it refers to is over. */
  STALE,
  /** Something needed is not there now. */
  UNAVAILABLE,
  /** A broken promise of the program itself. */
  INTERNAL
}
