package io.orbitkv.manager.doctor;

/**
 * One thing that was looked at.
 *
 * @param name of the thing
 * @param level how it is
 * @param detail what was found
 * @param remedy what an operator can do; empty when it is well
 */
public record Finding(String name, Level level, String detail, String remedy) {

  /** How bad it is. */
  public enum Level {
    /** As it should be. */
    OK,
    /** The Manager works without it, slower or with less. */
    WARN,
    /** The Manager does not work like this. */
    FAIL
  }

  static Finding ok(String name, String detail) {
    return new Finding(name, Level.OK, detail, "");
  }

  static Finding warn(String name, String detail, String remedy) {
    return new Finding(name, Level.WARN, detail, remedy);
  }

  static Finding fail(String name, String detail, String remedy) {
    return new Finding(name, Level.FAIL, detail, remedy);
  }
}
