package io.orbitkv.core.pool;

/**
 * Why a pool cannot be kept in a file.
 *
 * @param message what was tried and what came of it
 * @param remedy what an operator can do
 */
public record PoolRefusal(Cause cause, String message, String remedy) {
  /** The kinds of reasons. */
  public enum Cause {
    /** The file would lie on a disk. */
    NOT_MEMORY,
    /** The file system has too little room. */
    NO_SPACE,
    /** The file holds something that is not a pool of ours. */
    NOT_OURS,
    /** Others may read or write the file. */
    NOT_PRIVATE,
    /** Another process has the file. */
    IN_USE,
    /** The path does not lead to a regular file that may be written. */
    BAD_PATH
  }
}
