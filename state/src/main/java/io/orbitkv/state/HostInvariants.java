package io.orbitkv.state;

import com.google.errorprone.annotations.FormatMethod;
import io.orbitkv.state.HostEvent.SlicesReserved;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What must hold of a host's state, in one place: {@link HostState#apply} calls the cheap checks
 * for every fact; tests, {@code replay --verify} and the simulator call {@link #checkDeep}.
 *
 * <p>A fact that fails a check throws {@link BrokenInvariant}, and the state that it was applied to
 * must be discarded: part of the fact may have been applied.
 *
 * <p><b>Order of facts.</b> Apply never ends anything by itself, so whoever decides writes the ends
 * before the end of what holds them:
 *
 * <pre>
 * RemoteReadEnded, GrantClosed                          what goes on between hosts; no session's
 * PublishAborted | SlicesPublished, RestoreFinished     what a session has submitted
 *   -> TicketClosed                                     (READY: after the LeaseGranted it became)
 *   -> LeaseReleased
 *   -> SessionClosed                                    needs none of the above open
 *   -> InstanceCleaned                                  needs no open session
 *   -> BlocksEvicted                                    (NEVER_SEALED, ...)
 *   -> NamespaceUnbound                                 needs no instance and no block
 *   -> EpochEnded                                       needs no open session
 * </pre>
 *
 * <p>The first fact is {@code EpochStarted}, and between {@code EpochEnded} and the next {@code
 * EpochStarted} there is none. An {@code EpochStarted} without an {@code EpochEnded} before it
 * means a crash; the facts that abandon what was open follow it, in the same order.
 *
 * <p>{@code SessionOpened} that supersedes an open session leaves that one open until its own
 * {@code SessionClosed}: it may finish things and begin none. Ids of every kind grow and are never
 * reused; gaps are allowed. A lease holds sealed blocks of its session's namespace, and a block
 * that is pinned outlives its eviction until the last pin goes.
 */
public final class HostInvariants {
  private HostInvariants() {}

  /**
   * Checks everything at the cost of a walk over all blocks: extents do not overlap, pins are the
   * sum of all that is open, indexes, columns and counters agree, and the incremental digest is the
   * digest computed from scratch.
   *
   * @throws BrokenInvariant with the position of the last applied fact
   */
  public static void checkDeep(HostState state) {
    new DeepCheck(state).run();
  }

  @FormatMethod
  static BrokenInvariant broken(long position, String format, Object... arguments) {
    return new BrokenInvariant(position, String.format(Locale.ROOT, format, arguments));
  }

  /** For facts that are rare; elsewhere the arguments would be boxed for nothing. */
  @FormatMethod
  static void require(boolean holds, long position, String format, Object... arguments) {
    if (!holds) {
      throw broken(position, format, arguments);
    }
  }

  static void newId(long position, String what, long id, long next) {
    if (id < next) {
      throw broken(
          position, "%s id %d was used before or is not positive; the next is %d", what, id, next);
    }
  }

  /** What a fact ends must be open. */
  static <T> T open(long position, String what, long id, @Nullable T found, long next) {
    if (found == null) {
      throw broken(
          position,
          id >= 1 && id < next ? "%s %d is not open any more" : "%s %d was never opened",
          what,
          id);
    }
    return found;
  }

  static BoundNamespace namespace(long position, Registry registry, int namespaceId) {
    BoundNamespace namespace = registry.namespaces.get(namespaceId);
    if (namespace == null) {
      throw broken(position, "namespace %d is not bound", namespaceId);
    }
    return namespace;
  }

  static GroupRow group(long position, Registry registry, int namespaceId, int groupId) {
    GroupRow group = registry.group(namespaceId, groupId);
    if (group == null) {
      throw broken(position, "namespace %d has no group %d", namespaceId, groupId);
    }
    return group;
  }

  static KnownInstance instance(long position, Registry registry, long instanceId) {
    KnownInstance instance = registry.instances.get(instanceId);
    return open(position, "instance", instanceId, instance, registry.nextInstanceId);
  }

  static OpenSession session(long position, Registry registry, long sessionId) {
    OpenSession session = registry.sessions.get(sessionId);
    return open(position, "session", sessionId, session, registry.nextSessionId);
  }

  /** A session that may begin things. */
  static OpenSession live(long position, Registry registry, long sessionId) {
    OpenSession session = session(position, registry, sessionId);
    if (session.supersededBy != 0) {
      throw broken(
          position,
          "%s was superseded by session %d and may only finish what it began",
          session,
          session.supersededBy);
    }
    return session;
  }

  static void columns(long position, SlicesReserved event, OpenSession session, GroupRow group) {
    int blocks = event.blocks().size();
    if (blocks == 0
        || blocks != event.extentOffsets().size()
        || blocks != event.extentGenerations().size()
        || event.newKeys().size() > blocks) {
      throw broken(
          position,
          "publish %d has %d blocks, %d new keys, %d extent offsets and %d generations",
          event.publishId(),
          blocks,
          event.newKeys().size(),
          event.extentOffsets().size(),
          event.extentGenerations().size());
    }
    if (event.shard() != session.shard() && !(group.replicated && event.shard() == 0)) {
      throw broken(
          position,
          "publish %d fills slices of shard %d; %s is of shard %d",
          event.publishId(),
          event.shard(),
          session,
          session.shard());
    }
  }

  /** A shard may add its slice to a block that another shard began and nobody sealed or evicted. */
  static void joinable(
      long position, BlockTable blocks, int slot, long id, GroupRow group, int slice) {
    findable(position, blocks, slot, id, "joined by a publish");
    if (blocks.ssd.has(slot)) {
      throw broken(position, "block %d is joined by a publish, but it was sealed before", id);
    }
    if (blocks.group(slot) != group) {
      throw broken(
          position,
          "block %d is of namespace %d group %d, not of namespace %d group %d",
          id,
          blocks.group(slot).namespaceId,
          blocks.group(slot).groupId,
          group.namespaceId,
          group.groupId);
    }
    if (blocks.sliceState(slot, slice) != BlockChunk.SLICE_EMPTY) {
      throw broken(position, "block %d has a slice %d already", id, slice);
    }
  }

  static boolean inPool(long offset, int bytes, long generation, long poolBytes) {
    return bytes > 0 && offset >= 0 && offset <= poolBytes - bytes && generation >= 1;
  }

  static BrokenInvariant badExtent(
      long position, long id, long offset, int bytes, long generation, long poolBytes) {
    return broken(
        position,
        "block %d lies in extent [%d, +%d) of generation %d, which is not in a pool of %d bytes",
        id,
        offset,
        bytes,
        generation,
        poolBytes);
  }

  static void findable(long position, BlockTable blocks, int slot, long id, String done) {
    if (slot < 0) {
      throw broken(position, "block %d is %s, but there is no such block", id, done);
    }
    if (blocks.state(slot) == BlockChunk.EVICTED) {
      throw broken(position, "block %d is %s, but it was evicted before", id, done);
    }
  }

  static void leasable(
      long position, BlockTable blocks, int slot, long id, GroupRow group, long leaseId) {
    findable(position, blocks, slot, id, "leased");
    if (blocks.state(slot) != BlockChunk.SEALED) {
      throw broken(position, "lease %d holds block %d, which is not sealed", leaseId, id);
    }
    if (blocks.group(slot) != group) {
      throw broken(
          position,
          "lease %d holds block %d as one of namespace %d group %d; it is of namespace %d group %d",
          leaseId,
          id,
          group.namespaceId,
          group.groupId,
          blocks.group(slot).namespaceId,
          blocks.group(slot).groupId);
    }
  }

  /** The slot of a block that something open pins, so that it must be there. */
  static int pinned(
      long position, BlockTable blocks, long id, int neighbour, String what, long holder) {
    int slot = blocks.slotOf(id, neighbour);
    if (slot < 0 || blocks.pins(slot) <= 0) {
      throw broken(position, "block %d of %s %d is not pinned by it", id, what, holder);
    }
    return slot;
  }
}
