package io.orbitkv.ffi;

import java.util.Set;

/**
 * Whether a descriptor received from a peer is a memfd with the seals that make mapping it safe.
 */
public sealed interface SealCheck {

  /**
   * It is, and its size cannot fall below this.
   *
   * @param bytes its size, read after the seals
   */
  record Sealed(long bytes, Set<Seal> seals) implements SealCheck {}

  /**
   * It is not.
   *
   * @param reason what it is or lacks
   * @param remedy what the peer has to do
   */
  record Refused(String reason, String remedy) implements SealCheck {}
}
