package io.orbitkv.chaos;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.chaos.fault.Fault;
import io.orbitkv.chaos.fault.PlantedFault;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each suite has to fail when the daemon has a fault of its kind. */
class PlantedFaultTest {
  static Stream<Fault> faults() {
    boolean all = Boolean.getBoolean("orbitkv.long");
    if (!all) {
      System.out.println("one planted fault for each suite; --long plants them all");
    }
    return Arrays.stream(Fault.values()).filter(fault -> all || fault.quick());
  }

  @ParameterizedTest
  @MethodSource("faults")
  void shouldBeFound(Fault fault) throws Exception {
    if (fault.suite() == Suite.DISK) {
      Assumptions.assumeTrue(
          "root".equals(System.getProperty("user.name")), "a disk that can be filled needs root");
    }
    long seed = Rounds.seed();
    PlantedFault.Verdict verdict = PlantedFault.run(fault, seed);
    System.out.printf("%s, seed %d: %s%n", fault.word(), seed, verdict.how());
    assertTrue(verdict.found(), verdict::how);
  }
}
