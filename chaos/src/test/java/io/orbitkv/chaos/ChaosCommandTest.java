package io.orbitkv.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.chaos.sim.SimCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** A run that tries nothing must not say that everything held. */
class ChaosCommandTest {
  private final StringWriter err = new StringWriter();

  private String refused(Object command, String... arguments) {
    assertEquals(2, new CommandLine(command).setErr(new PrintWriter(err)).execute(arguments));
    return err.toString();
  }

  @Test
  void shouldRefuseToTryNothing() {
    assertTrue(refused(new ChaosCommand(), "input", "--inputs", "0").contains("1 or more"));
    assertTrue(refused(new ChaosCommand(), "crash", "--kills", "-1").contains("1 or more"));
    String told = refused(new ChaosCommand(), "nothing");
    assertTrue(told.contains("there is no suite 'nothing'; there are crash, "), told);
    told = refused(new SimCommand(), "--seed", "7", "--only", "3,300");
    assertTrue(told.contains("steps 0 to 299"), told);
  }
}
