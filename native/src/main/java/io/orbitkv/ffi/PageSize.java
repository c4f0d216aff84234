package io.orbitkv.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;

/** The size of this host's ordinary pages: 4 KiB on x86-64, up to 64 KiB on aarch64. */
public final class PageSize {
  /** In bytes. */
  public static final int BYTES = query();

  private PageSize() {}

  private static int query() {
    try {
      return (int) Linkage.linkPlain("getpagesize", JAVA_INT).invokeExact();
    } catch (Throwable thrown) {
      throw Linkage.failure("getpagesize", thrown);
    }
  }
}
