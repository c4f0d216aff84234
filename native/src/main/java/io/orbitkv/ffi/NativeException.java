package io.orbitkv.ffi;

import java.io.IOException;

/** A system call failed; says which call, on what, and with which {@link Errno}. */
public final class NativeException extends IOException {
  private static final long serialVersionUID = 1L;

  private final String call;
  private final int errnoNumber;

  /**
   * @param call the call's C name, such as {@code mmap}
   * @param errno why it failed
   * @param subject what it was called on, such as a path or a size; may be empty
   */
  public NativeException(String call, Errno errno, String subject) {
    super(call + (subject.isEmpty() ? "" : " " + subject) + ": " + errno);
    this.call = call;
    this.errnoNumber = errno.number();
  }

  /** The call's C name. */
  public String call() {
    return call;
  }

  /** Why it failed. */
  public Errno errno() {
    return Errno.of(errnoNumber);
  }

  /** Whether it failed for this reason. */
  public boolean is(Errno errno) {
    return errnoNumber == errno.number();
  }

  /**
   * Passes a non-negative result through and throws for a negative one, which is an errno with its
   * sign reversed (the convention of the package's private call classes). The subject becomes text
   * only when it throws.
   */
  static int check(String call, int result, Object subject) throws NativeException {
    if (result < 0) {
      throw new NativeException(call, Errno.of(-result), subject.toString());
    }
    return result;
  }

  static long check(String call, long result, Object subject) throws NativeException {
    if (result < 0) {
      throw new NativeException(call, Errno.of((int) -result), subject.toString());
    }
    return result;
  }

  /** Throws if {@code result} is a negative errno. */
  static void verify(String call, int result, Object subject) throws NativeException {
    check(call, result, subject);
  }
}
