package io.orbitkv.chaos.sim;

import io.orbitkv.state.HostEvent.SessionRole;
import org.jspecify.annotations.Nullable;

/** A session that an engine was told of. */
final class SimSession {
  final long id;
  final long epoch;
  final SimEngine engine;
  final SessionRole role;

  /** Null for a session without buffers. */
  final @Nullable SimPages pages;

  /** The session that it is attached to. */
  final @Nullable SimSession base;

  /** Something was done that may end it. */
  boolean ending;

  /** Somebody was told that it is over. */
  boolean ended;

  SimSession(
      long id,
      long epoch,
      SimEngine engine,
      SessionRole role,
      @Nullable SimPages pages,
      @Nullable SimSession base) {
    this.id = id;
    this.epoch = epoch;
    this.engine = engine;
    this.role = role;
    this.pages = pages;
    this.base = base;
  }

  /** Marks it, and those attached to it, as perhaps ending. */
  void end() {
    ending = true;
    for (SimSession other : engine.deployment.sessions) {
      if (other.base == this) {
        other.ending = true;
      }
    }
  }

  /** Marks it, and those attached to it, as over. */
  void over() {
    over(this);
    for (SimSession other : engine.deployment.sessions) {
      if (other.base == this) {
        over(other);
      }
    }
  }

  private static void over(SimSession session) {
    session.ending = true;
    session.ended = true;
    session.engine.current.remove(session.role, session);
  }

  @Override
  public String toString() {
    return "s" + id;
  }
}
