package io.orbitkv.client;

import io.orbitkv.client.wire.QueryAnswer;
import io.orbitkv.client.wire.Refusal;

/** What a query gave. */
public sealed interface QueryResult {
  /** Something can be restored, and is leased. */
  record Ready(Lease lease, QueryAnswer answer) implements QueryResult {}

  /** Something could be restored at present; nothing is leased. */
  record Discovered(QueryAnswer answer) implements QueryResult {}

  /** Blocks are on their way; ask again with the ticket. */
  record Loading(Ticket ticket) implements QueryResult {}

  /**
   * Nothing can be restored.
   *
   * @param reasonCode why, a {@link io.orbitkv.client.wire.RefusalCode} number; 0 for no reason
   */
  record Miss(QueryAnswer answer, int reasonCode) implements QueryResult {}

  /** It was cancelled, or replaced by a newer query of the same request. */
  record Cancelled(int reasonCode) implements QueryResult {}

  /** Nothing was done. */
  record Refused(Refusal refusal) implements QueryResult {}
}
