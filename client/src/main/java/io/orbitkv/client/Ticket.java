package io.orbitkv.client;

/** One request's claim on a pending query, in the session that asked. */
public final class Ticket {
  private final LiveSession session;
  private final Pending query;
  private final long ticketId;

  Ticket(LiveSession session, Pending query, long ticketId) {
    this.session = session;
    this.query = query;
    this.ticketId = ticketId;
  }

  /** The Manager's number. */
  public long ticketId() {
    return ticketId;
  }

  LiveSession session() {
    return session;
  }

  Pending query() {
    return query;
  }

  @Override
  public String toString() {
    return "ticket " + ticketId;
  }
}
