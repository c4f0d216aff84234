package io.orbitkv.client;

import io.orbitkv.client.wire.Refusal;

/** What a preparation came to. */
public sealed interface PrepareResult {

  /**
   * Everything up to the boundary is in memory; nothing keeps it there.
   *
   * @param boundaryToken the start token if nothing is
   * @param expired whether the deadline came while more was on its way
   */
  record Prepared(int boundaryToken, boolean expired) implements PrepareResult {}

  /** It was stopped. */
  record Cancelled() implements PrepareResult {}

  /** Nothing was done, or the session ended first. */
  record Refused(Refusal refusal) implements PrepareResult {}
}
