package io.orbitkv.core.ssd;

import java.util.ArrayList;
import java.util.List;

/** What ails the SSD tier, told by the loop and read by any thread. */
public final class SsdReport {
  private volatile String writes = "";
  private volatile String hanging = "";

  /** Why no writes are begun; empty while they are. */
  public void writes(String problem) {
    writes = problem;
  }

  /** Why nothing is begun at all; empty while things are. */
  public void hanging(String problem) {
    hanging = problem;
  }

  /** For people; empty when all is well. */
  public List<String> problems() {
    List<String> problems = new ArrayList<>();
    for (String problem : new String[] {writes, hanging}) {
      if (!problem.isEmpty()) {
        problems.add(problem);
      }
    }
    return problems;
  }
}
