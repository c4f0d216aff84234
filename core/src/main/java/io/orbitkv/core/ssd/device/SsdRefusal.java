package io.orbitkv.core.ssd.device;

/**
 * Why a part of the SSD tier cannot be had.
 *
 * @param message what was tried and what came of it
 * @param remedy what an operator can do
 */
public record SsdRefusal(Cause cause, String message, String remedy) {
  /** The kinds of reasons. */
  public enum Cause {
    /** The disk, or a quota, has too little room. */
    NO_SPACE,
    /** The file holds something that is not a tier of ours. */
    NOT_OURS,
    /** Another process has the file. */
    IN_USE,
    /** The path does not lead to a regular file that may be written. */
    BAD_PATH,
    /** The file system cannot reserve space, so that the capacity would not be a bound. */
    NOT_RESERVABLE,
    /** The kernel or a profile refuses the backend that was asked for. */
    BACKEND,
    /** A read or write failed. */
    DISK
  }

  @Override
  public String toString() {
    return remedy.isEmpty() ? message : message + "; " + remedy;
  }
}
