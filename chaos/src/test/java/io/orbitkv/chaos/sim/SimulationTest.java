package io.orbitkv.chaos.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.manager.Main;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * One minute of the simulator, and the proof that it finds bugs: each planted one is found, and the
 * same seed holds without it. {@code -Dorbitkv.sim.seconds=600} runs longer, {@code
 * -Dorbitkv.test.seed=S} begins elsewhere.
 */
class SimulationTest {
  private static final int STEPS = 300;
  private static final long FIRST_SEED = 3_372_186_600L;
  private static final int SEEDS_TO_FIND = 500;

  @Test
  void shouldHoldEveryRule() {
    long first = Long.getLong("orbitkv.test.seed", FIRST_SEED);
    long begun = System.nanoTime();
    long until = begun + Long.getLong("orbitkv.sim.seconds", 60) * 1_000_000_000L;
    long seed = first;
    Tally tally = new Tally();
    for (; System.nanoTime() < until; seed++) {
      Schedules.Failure failure = Schedules.run(seed, STEPS, null, tally);
      if (failure != null) {
        throw new AssertionError(
            SimCommand.replay(failure) + " breaks " + failure.rule() + ": " + failure.message(),
            failure.stack());
      }
    }
    System.out.printf(
        "simulator: %d seeds of %d steps from %d on, every rule held; repeat with ./orbitkv sim --seed %d --seeds %d%n",
        seed - first, STEPS, first, first, seed - first);
    System.out.print(tally.text());
    assertTrue(seed > first);
  }

  @Test
  void shouldMeetEveryFaultInFewSeeds() {
    Tally tally = new Tally();
    for (long seed = 1; seed <= 250; seed++) {
      assertNull(Schedules.run(seed, STEPS, null, tally));
    }
    for (Tally.Count count : Tally.Count.values()) {
      assertTrue(tally.of(count) > 0, count + " never happens:\n" + tally.text());
    }
  }

  private static Schedules.Failure find(Plant plant) {
    for (long seed = 1; seed <= SEEDS_TO_FIND; seed++) {
      Schedules.Failure failure = Schedules.run(seed, STEPS, plant);
      if (failure != null) {
        return failure;
      }
    }
    throw new AssertionError(plant + " is not found in " + SEEDS_TO_FIND + " seeds");
  }

  @ParameterizedTest
  @EnumSource(Plant.class)
  void shouldFindThePlantedBug(Plant plant) {
    Schedules.Failure failure = find(plant);
    System.out.printf(
        "%s: seed %d breaks %s at step %d: %s%n",
        plant, failure.seed(), failure.rule(), failure.atStep(), failure.message());
    assertNull(
        Schedules.run(failure.seed(), STEPS, null), "the same seed holds without the planted bug");
  }

  @Test
  void shouldRepeatASeedStepByStep() {
    List<String> once = new ArrayList<>();
    List<String> again = new ArrayList<>();
    for (long seed = 1; seed <= 20; seed++) {
      Schedules.run(seed, STEPS, null, null, once);
      Schedules.run(seed, STEPS, null, null, again);
    }
    assertFalse(once.isEmpty());
    for (int i = 0; i < once.size(); i++) {
      assertEquals(once.get(i), again.get(i), "line " + i);
    }
    assertEquals(once.size(), again.size());
  }

  @Test
  void shouldShrinkAScheduleThatFails() {
    Schedules.Failure failure = find(Plant.VISIBLE_BEFORE_SEALED);
    Schedules.Failure small = Schedules.shrink(failure, 5_000_000_000L);
    assertEquals(failure.rule(), small.rule());
    assertTrue(small.kept().size() <= 10, small.kept() + " are left");
    BitSet only = new BitSet();
    small.kept().forEach(only::set);
    List<String> lines = new ArrayList<>();
    Schedules.Failure again = Schedules.run(failure.seed(), STEPS, failure.plant(), only, lines);
    assertEquals(small.rule(), assertNotNull(again).rule());
    assertFalse(lines.isEmpty());
  }

  /** JUnit's own does not say that what it returns is not null. */
  private static Schedules.Failure assertNotNull(Schedules.@Nullable Failure failure) {
    if (failure == null) {
      throw new AssertionError("every rule held");
    }
    return failure;
  }

  private static int run(StringWriter out, String... arguments) {
    PrintWriter writer = new PrintWriter(out, true);
    return Main.commandLine().setOut(writer).setErr(writer).execute(arguments);
  }

  @Test
  void shouldRunFromTheCommandLine() {
    StringWriter out = new StringWriter();
    assertEquals(0, run(out, "sim", "--seed", "5", "--seeds", "3", "--steps", "60"));
    assertTrue(
        out.toString().contains("every rule held: seeds 5 to 7, 60 steps each"), out::toString);
  }

  @Test
  void shouldRunForAWhileFromTheCommandLine() {
    StringWriter out = new StringWriter();
    assertEquals(0, run(out, "sim", "--seed", "5", "--minutes", "0.01", "--steps", "60"));
    assertTrue(out.toString().contains("every rule held: seeds 5 to "), out::toString);
    assertTrue(out.toString().contains(" blocks written, "), out::toString);
  }

  @ParameterizedTest
  @EnumSource(names = {"VISIBLE_BEFORE_SEALED", "SSD_WRITE_NOT_HELD", "SSD_FREED_BEFORE_FACT"})
  void shouldPrintASmallScheduleThatFailsInTheSameWay(Plant plant) {
    StringWriter out = new StringWriter();
    assertEquals(1, run(out, "sim", "--seed", "1", "--seeds", "500", "--plant", plant.name()));
    List<String> lines = out.toString().lines().toList();
    String command = lines.stream().filter(line -> line.contains("--only")).findAny().orElseThrow();
    String broken = lines.getLast().strip();
    StringWriter again = new StringWriter();
    assertEquals(1, run(again, command.strip().substring("orbitkv ".length()).split(" ")));
    assertTrue(
        again.toString().contains("  what     " + broken + System.lineSeparator()),
        again::toString);
    assertTrue(again.toString().contains("  seed     "), again::toString);
    assertTrue(again.toString().contains("  commit   "), again::toString);
    List<String> sound = new ArrayList<>(List.of(command.strip().split(" ")));
    sound.remove("orbitkv");
    sound.remove("--plant");
    sound.remove(plant.name());
    assertEquals(0, run(new StringWriter(), sound.toArray(String[]::new)), "without the bug");
  }

  @Test
  void shouldPrintHowToRepeatAFailure() {
    StringWriter out = new StringWriter();
    assertEquals(
        1, run(out, "sim", "--seed", "1", "--seeds", "99", "--plant", "REPLY_BEFORE_APPEND"));
    String text = out.toString();
    assertTrue(text.contains("nobody is told of anything before its fact"), text);
    assertTrue(text.contains("  repeat   orbitkv sim --seed 1 --steps 300 --plant REPLY"), text);
    assertTrue(text.contains(" --only "), text);
    StringWriter again = new StringWriter();
    String command = text.lines().filter(line -> line.contains("--only")).findFirst().orElseThrow();
    String[] words = command.strip().substring("orbitkv ".length()).split(" ");
    assertEquals(1, run(again, words), again::toString);
  }
}
