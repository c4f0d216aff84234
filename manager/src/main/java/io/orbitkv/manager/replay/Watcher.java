package io.orbitkv.manager.replay;

import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostState;

/** What every watched fold shares: whose the ids are, and a progress bar. */
abstract class Watcher implements ReplayHooks {
  final Names names = new Names();
  private final Progress progress;
  private long facts;

  Watcher(Progress progress) {
    this.progress = progress;
  }

  @Override
  public void starting(HostState state) {
    names.seed(state);
  }

  @Override
  public final void before(Fact fact, HostState state) {
    facts++;
    names.observe(fact);
    see(fact, state);
  }

  /** The next fact; the state is the one before it. */
  abstract void see(Fact fact, HostState before);

  @Override
  public void progress(long doneBytes, long totalBytes) {
    progress.at(facts, doneBytes, totalBytes);
  }

  /** The fold has ended, well or not. */
  void ended() {
    progress.hide();
  }
}
