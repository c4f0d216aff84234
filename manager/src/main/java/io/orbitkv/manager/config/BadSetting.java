package io.orbitkv.manager.config;

/** A setting that cannot be used; the message names it, where it came from, and what to write. */
public final class BadSetting extends RuntimeException {
  private static final long serialVersionUID = 1L;

  BadSetting(String message) {
    super(message);
  }
}
