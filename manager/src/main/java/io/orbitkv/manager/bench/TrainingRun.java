package io.orbitkv.manager.bench;

import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.journal.Replayer;
import io.orbitkv.manager.Main;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The Manager that the build watches: it folds the journal of a host without an SSD tier, as if
 * that were its own, and then is the Manager of one with a tier. One cache is for both.
 */
public final class TrainingRun {
  private TrainingRun() {}

  /**
   * Runs it.
   *
   * @param arguments a journal's directory, and behind it those of {@link Main}
   */
  public static void main(String[] arguments) throws IOException {
    Replayer.run(JournalReader.open(Path.of(arguments[0])), ReplayOptions.QUICK, ReplayHooks.NONE);
    Main.main(Arrays.copyOfRange(arguments, 1, arguments.length));
  }
}
