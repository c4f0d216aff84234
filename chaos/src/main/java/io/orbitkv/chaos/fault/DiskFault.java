package io.orbitkv.chaos.fault;

/** What a disk under the SSD tier does wrong. */
public enum DiskFault {
  /** Nothing. */
  NONE(0),
  /** Writes end with EIO and write nothing. */
  WRITES_FAIL(1),
  /** Writes end with ENOSPC and write nothing. */
  NO_SPACE(2),
  /** Reads end with EIO. */
  READS_FAIL(3),
  /** Reads give the first half of what was asked, and say so. */
  SHORT_READS(4),
  /** Writes take the first half of what was given, and say so. */
  SHORT_WRITES(5),
  /** Writes take the first half of what was given and say that they took all. */
  TORN_WRITES(6),
  /** Writes take nothing and say that they took all. */
  LOST_WRITES(7),
  /** No operation ends. */
  HANGS(8);

  private final int number;

  DiskFault(int number) {
    this.number = number;
  }

  /** Its number in a {@link DiskControl}. */
  int number() {
    return number;
  }

  static DiskFault of(int number) {
    for (DiskFault each : values()) {
      if (each.number == number) {
        return each;
      }
    }
    throw new IllegalArgumentException("no fault " + number);
  }

  boolean concernsReads() {
    return switch (this) {
      case READS_FAIL, SHORT_READS -> true;
      case NONE, WRITES_FAIL, NO_SPACE, SHORT_WRITES, TORN_WRITES, LOST_WRITES, HANGS -> false;
    };
  }

  boolean concernsWrites() {
    return switch (this) {
      case WRITES_FAIL, NO_SPACE, SHORT_WRITES, TORN_WRITES, LOST_WRITES -> true;
      case NONE, READS_FAIL, SHORT_READS, HANGS -> false;
    };
  }
}
