package io.orbitkv.ffi;

/**
 * Whether the host offers one thing, in words for {@code doctor}.
 *
 * @param present whether it does
 * @param detail what was found, or why it is not there
 * @param remedy what an operator can do; empty when it is present
 */
public record Probe(boolean present, String detail, String remedy) {
  static Probe found(String detail) {
    return new Probe(true, detail, "");
  }

  static Probe missing(String why, String remedy) {
    return new Probe(false, why, remedy);
  }
}
