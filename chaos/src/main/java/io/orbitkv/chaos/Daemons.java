package io.orbitkv.chaos;

import io.orbitkv.chaos.fault.Fault;
import io.orbitkv.manager.workload.Children;
import io.orbitkv.manager.workload.ManagerProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts the daemons that a suite breaks: those that are delivered, or ones with a fault. */
public final class Daemons {
  /** As an operator starts them. */
  public static final Daemons HONEST =
      new Daemons((arguments, log) -> Children.start(arguments, List.of(), log, false), List.of());

  private final ManagerProcess.Launch launch;
  private final List<String> moreFlags;

  private Daemons(ManagerProcess.Launch launch, List<String> moreFlags) {
    this.launch = launch;
    this.moreFlags = moreFlags;
  }

  /** Daemons with a fault that a suite has to find. */
  public static Daemons faulty(Fault fault) {
    return new Daemons((arguments, log) -> fault.launch(arguments, log), fault.flags());
  }

  /**
   * Starts one and waits until it serves.
   *
   * @param dir an existing folder with a short path; the same one continues a journal
   * @param flags of {@code orbitkv manager}
   */
  public ManagerProcess start(Path dir, List<String> flags) {
    return ManagerProcess.start(dir, with(flags), launch);
  }

  /** Begins to start one, without waiting for anything. */
  public ManagerProcess launch(Path dir, List<String> flags) {
    return ManagerProcess.launch(dir, with(flags), launch);
  }

  private List<String> with(List<String> flags) {
    List<String> all = new ArrayList<>(flags);
    for (int i = 0; i < moreFlags.size(); i += 2) {
      int at = all.indexOf(moreFlags.get(i));
      if (at >= 0) {
        all.subList(at, at + 2).clear();
      }
    }
    all.addAll(moreFlags);
    return all;
  }
}
