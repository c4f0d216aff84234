package io.orbitkv.journal;

import io.orbitkv.state.Fact;
import io.orbitkv.state.HostState;

/** Watches a fold. The state may be read and not changed. */
public interface ReplayHooks {
  ReplayHooks NONE = new ReplayHooks() {};

  /** The state that the fold starts from was read; empty, or that of a checkpoint. */
  default void starting(HostState state) {}

  default void before(Fact fact, HostState state) {}

  default void after(Fact fact, HostState state) {}

  /** Called every few ten thousand facts and at the end; {@code doneBytes <= totalBytes}. */
  default void progress(long doneBytes, long totalBytes) {}

  /** Asked as often as {@link #progress}; true ends the fold. */
  default boolean stop() {
    return false;
  }
}
