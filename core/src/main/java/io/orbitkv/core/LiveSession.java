package io.orbitkv.core;

import io.orbitkv.core.copy.GroupLayout;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.SessionRole;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A session of this epoch and what it holds. */
final class LiveSession {
  final long id;
  final LiveInstance instance;
  final int shard;
  final SessionRole role;
  final int pid;
  final int uid;
  final @Nullable SharedBuffers buffers;

  final Set<LiveLease> leases = new LinkedHashSet<>();

  final Set<LiveTicket> tickets = new LinkedHashSet<>();

  /** What the last tickets turned into, oldest first, for whoever polls afterwards. */
  private final LinkedHashMap<Long, Ended> endedTickets = new LinkedHashMap<>();

  final Set<LivePublish> publishes = new LinkedHashSet<>();
  final Set<LiveRestore> restores = new LinkedHashSet<>();

  /** The session whose pages it uses and with which it ends, null if it stands alone. */
  final @Nullable LiveSession attachedTo;

  /** Why it ends; null while it is open. */
  @Nullable SessionEnd ending;

  /** Who waits for its end. */
  final List<ReplySink> closeSinks = new ArrayList<>();

  LiveSession(
      long id,
      LiveInstance instance,
      int shard,
      SessionRole role,
      int pid,
      int uid,
      @Nullable SharedBuffers buffers,
      @Nullable LiveSession attachedTo) {
    this.id = id;
    this.instance = instance;
    this.shard = shard;
    this.role = role;
    this.pid = pid;
    this.uid = uid;
    this.buffers = buffers;
    this.attachedTo = attachedTo;
  }

  LiveNamespace namespace() {
    return instance.namespace;
  }

  boolean open() {
    return ending == null;
  }

  /** No worker uses its pages any more. */
  boolean drained() {
    return publishes.isEmpty() && restores.isEmpty();
  }

  @Nullable GroupLayout layout(int groupId) {
    return buffers == null ? null : buffers.buffers().layout(groupId);
  }

  /** What a ticket turned into, and how many still may ask. */
  private record Ended(Reply end, int asks) {}

  /**
   * Remembers what a ticket turned into.
   *
   * @param asks how often {@link #takeEnd} gives it
   * @param most remembered tickets, above which the oldest is forgotten
   */
  void remember(long ticketId, Reply end, int asks, int most) {
    endedTickets.put(ticketId, new Ended(end, asks));
    if (endedTickets.size() > most) {
      endedTickets.pollFirstEntry();
    }
  }

  /** What a ticket turned into, null if that is not remembered. */
  @Nullable Reply takeEnd(long ticketId) {
    Ended ended = endedTickets.remove(ticketId);
    if (ended == null) {
      return null;
    }
    if (ended.asks > 1) {
      endedTickets.put(ticketId, new Ended(ended.end, ended.asks - 1));
    }
    return ended.end;
  }

  void forgetEnd(long ticketId) {
    endedTickets.remove(ticketId);
  }
}
