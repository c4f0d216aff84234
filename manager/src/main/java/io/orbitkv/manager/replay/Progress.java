package io.orbitkv.manager.replay;

/** Told how far a pass over the journal is. */
@FunctionalInterface
public interface Progress {
  Progress NONE = (facts, doneBytes, totalBytes) -> {};

  /** Facts of this pass, and how much of the journal's bytes it went through. */
  void at(long facts, long doneBytes, long totalBytes);
}
