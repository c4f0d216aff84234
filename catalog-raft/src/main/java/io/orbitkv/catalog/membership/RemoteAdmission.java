package io.orbitkv.catalog.membership;

import java.time.Instant;

/** Whether this host may begin work with other hosts. Local work goes on in any case. */
public sealed interface RemoteAdmission {

  /**
   * It holds its lease.
   *
   * @param since when it began to
   */
  record Open(Instant since) implements RemoteAdmission {}

  /**
   * It does not: others may believe that it is gone.
   *
   * @param reason why
   * @param since when it was fenced
   */
  record Fenced(String reason, Instant since) implements RemoteAdmission {}

  /** Whether work with other hosts may begin. */
  default boolean isOpen() {
    return this instanceof Open;
  }
}
