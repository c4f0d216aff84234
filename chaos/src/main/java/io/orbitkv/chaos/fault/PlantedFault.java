package io.orbitkv.chaos.fault;

import io.orbitkv.chaos.Daemons;
import io.orbitkv.manager.workload.ScratchDir;

/** Runs the suite that has to find a fault against daemons that have it. */
public final class PlantedFault {
  private static final int MAX_CHARS = 240;

  private PlantedFault() {}

  /**
   * What came of it.
   *
   * @param found whether the suite failed
   * @param how what it said, or that it held
   */
  public record Verdict(boolean found, String how) {}

  /** Plants a fault. */
  public static Verdict run(Fault fault, long seed) throws Exception {
    try (ScratchDir dir = ScratchDir.create("okv-fault")) {
      Record report = fault.suite().run(Daemons.faulty(fault), dir.path(), fault.rounds(), seed);
      return new Verdict(false, "every check held: " + report);
    } catch (AssertionError failed) {
      String cause = failed.getCause() == null ? "" : ": " + failed.getCause().getMessage();
      return new Verdict(true, shortened(failed.getMessage() + cause));
    }
  }

  private static String shortened(String said) {
    String line = said.lines().findFirst().orElse("");
    return line.length() <= MAX_CHARS ? line : line.substring(0, MAX_CHARS) + "...";
  }
}
