package io.orbitkv.manager.replay;

/** Told how far a pass over the journal is. */
public interface Progress {
  Progress NONE =
      new Progress() {
        @Override
        public void at(long facts, long doneBytes, long totalBytes) {}

        @Override
        public void hide() {}
      };

  /** Facts of this pass, and how much of the journal's bytes it went through. */
  void at(long facts, long doneBytes, long totalBytes);

  /** Something else is about to be printed. */
  void hide();
}
