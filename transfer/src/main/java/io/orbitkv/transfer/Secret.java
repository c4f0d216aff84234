package io.orbitkv.transfer;

/** What a reader has to show with a grant's id: 128 random bits. It is never printed. */
public record Secret(long high, long low) {

  /** Compares in a time that does not depend on the values. */
  public boolean matches(Secret other) {
    return ((high ^ other.high) | (low ^ other.low)) == 0;
  }

  @Override
  public String toString() {
    return "Secret[hidden]";
  }
}
