package io.orbitkv.core;

import io.orbitkv.state.HostEvent.CleanupReason;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A registered instance of this epoch. */
final class LiveInstance {
  final long id;
  final String name;
  final LiveNamespace namespace;
  final Budget budget;

  /** Open and draining ones, oldest first. */
  final List<LiveSession> sessions = new ArrayList<>();

  /** Why it is being cleaned up, null while it is not: then no session may join. */
  @Nullable CleanupReason cleaning;

  /** Who waits for the cleanup. */
  final List<ReplySink> cleanupSinks = new ArrayList<>();

  /** What the cleanup took, for the answer. */
  int cleanedSessions;

  int cleanedLeases;
  int cleanedTickets;

  LiveInstance(long id, String name, LiveNamespace namespace, Budget budget) {
    this.id = id;
    this.name = name;
    this.namespace = namespace;
    this.budget = budget;
  }
}
