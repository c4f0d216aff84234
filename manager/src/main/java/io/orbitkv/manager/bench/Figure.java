package io.orbitkv.manager.bench;

import java.util.OptionalDouble;

/**
 * One measured figure.
 *
 * @param name what was measured
 * @param target what it should be, for people; empty if nothing is asked of it
 * @param measured in the unit
 * @param floor what the machine itself can do, in the same unit and the same run
 * @param verdict whether the target is met
 */
public record Figure(
    String name, String target, Unit unit, double measured, OptionalDouble floor, Verdict verdict) {

  /** Whether a figure is what it should be. */
  public enum Verdict {
    MET,
    MISSED,
    /** Nothing is asked of it. */
    NONE;

    static Verdict of(boolean met) {
      return met ? MET : MISSED;
    }
  }

  /** A figure that must not exceed a bound. */
  public static Figure atMost(String name, Unit unit, double measured, double most) {
    return new Figure(
        name,
        "<= " + unit.text(most),
        unit,
        measured,
        OptionalDouble.empty(),
        Verdict.of(measured <= most));
  }

  /** A figure that must reach a bound. */
  public static Figure atLeast(String name, Unit unit, double measured, double least) {
    return new Figure(
        name,
        ">= " + unit.text(least),
        unit,
        measured,
        OptionalDouble.empty(),
        Verdict.of(measured >= least));
  }

  /** A figure that must not exceed so many times its floor. */
  public static Figure atMostTimes(
      String name, Unit unit, double measured, double floor, double times) {
    return new Figure(
        name,
        "<= " + number(times) + " x floor",
        unit,
        measured,
        OptionalDouble.of(floor),
        Verdict.of(measured <= times * floor));
  }

  /** A figure that must reach a share of its floor. */
  public static Figure atLeastShare(
      String name, Unit unit, double measured, double floor, double share) {
    return new Figure(
        name,
        ">= " + number(share) + " x floor",
        unit,
        measured,
        OptionalDouble.of(floor),
        Verdict.of(measured >= share * floor));
  }

  /** A figure of which nothing is asked. */
  public static Figure plain(String name, Unit unit, double measured) {
    return new Figure(name, "", unit, measured, OptionalDouble.empty(), Verdict.NONE);
  }

  /** The same beside its floor. */
  public Figure besides(double newFloor) {
    return new Figure(name, target, unit, measured, OptionalDouble.of(newFloor), verdict);
  }

  /** Measured divided by floor; empty without a floor. */
  public OptionalDouble ratio() {
    return floor.isPresent() && floor.getAsDouble() > 0
        ? OptionalDouble.of(measured / floor.getAsDouble())
        : OptionalDouble.empty();
  }

  private static String number(double value) {
    return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
  }
}
