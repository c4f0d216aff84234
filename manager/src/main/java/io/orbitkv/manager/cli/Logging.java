package io.orbitkv.manager.cli;

/** Sets the log up: to standard error, one line an event. Before the first logger is made. */
public final class Logging {
  private static final String PREFIX = "org.slf4j.simpleLogger.";

  private Logging() {}

  /**
   * Takes effect for loggers made afterwards.
   *
   * @param level error, warn, info, debug or trace
   */
  public static void setUp(String level) {
    System.setProperty(PREFIX + "defaultLogLevel", level);
    System.setProperty(PREFIX + "log.net.openhft", level.equals("trace") ? "debug" : "error");
    boolean deep = level.equals("trace") || level.equals("debug");
    System.setProperty(PREFIX + "log.org.apache.ratis", deep ? "info" : "error");
    System.setProperty(PREFIX + "showDateTime", "true");
    System.setProperty(PREFIX + "dateTimeFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX");
    System.setProperty(PREFIX + "showThreadName", "false");
    System.setProperty(PREFIX + "showShortLogName", "true");
    System.setProperty(PREFIX + "levelInBrackets", "false");
  }
}
