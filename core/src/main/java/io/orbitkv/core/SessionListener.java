package io.orbitkv.core;

import io.orbitkv.state.HostEvent.SessionEnd;

/**
 * Told on the loop thread that a session has ended and drained, so that its channel can be closed.
 */
@FunctionalInterface
public interface SessionListener {
  SessionListener NONE = (sessionId, reason) -> {};

  void sessionClosed(long sessionId, SessionEnd reason);
}
