package io.orbitkv.core.pool;

/** What came of opening a pool's file. */
public sealed interface PoolOpening {
  /** It is there. */
  record Opened(PoolFile file) implements PoolOpening {}

  /** It cannot be had; nothing has been left behind that was not there before. */
  record Refused(PoolRefusal refusal) implements PoolOpening {}
}
