package io.orbitkv.chaos;

import io.orbitkv.chaos.fault.DiskControl;
import io.orbitkv.chaos.fault.Fault;
import io.orbitkv.manager.workload.Children;
import io.orbitkv.manager.workload.ManagerProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Starts the daemons that a suite breaks: those that are delivered, or ones with a fault. */
public final class Daemons {
  /** As an operator starts them. */
  public static final Daemons HONEST = new Daemons(null, null);

  private final @Nullable Fault fault;
  private final @Nullable DiskControl disk;

  private Daemons(@Nullable Fault fault, @Nullable DiskControl disk) {
    this.fault = fault;
    this.disk = disk;
  }

  /** Daemons with a fault that a suite has to find. */
  public static Daemons faulty(Fault fault) {
    return new Daemons(fault, null);
  }

  /** The same daemons on a disk that does what {@code control} says. */
  public Daemons onDisk(DiskControl control) {
    return new Daemons(fault, control);
  }

  /**
   * Starts one and waits until it serves.
   *
   * @param dir an existing folder with a short path; the same one continues a journal
   * @param flags of {@code orbitkv manager}
   */
  public ManagerProcess start(Path dir, List<String> flags) {
    return ManagerProcess.start(dir, with(flags), this::process);
  }

  /** Begins to start one, without waiting for anything. */
  public ManagerProcess launch(Path dir, List<String> flags) {
    return ManagerProcess.launch(dir, with(flags), this::process);
  }

  private Process process(List<String> arguments, Path log) {
    return fault == null && disk == null
        ? Children.start(arguments, List.of(), log, false)
        : Fault.launch(fault, disk, arguments, log);
  }

  private List<String> with(List<String> flags) {
    List<String> moreFlags = fault == null ? List.of() : fault.flags();
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
