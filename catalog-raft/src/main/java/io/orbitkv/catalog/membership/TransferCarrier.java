package io.orbitkv.catalog.membership;

/**
 * What moves a host's blocks. Only hosts with the same one can read each other.
 *
 * @param name such as {@code tcp}
 * @param poolAddress where its pool lies in its memory, for carriers that are told; else 0
 */
public record TransferCarrier(String name, long poolAddress) {
  /** The built-in engine. */
  public static final TransferCarrier TCP = new TransferCarrier("tcp", 0);

  /** Refuses a name that is not of lower-case letters. */
  public TransferCarrier {
    if (!name.matches("[a-z]{1,32}")) {
      throw new IllegalArgumentException("carrier " + name);
    }
  }
}
