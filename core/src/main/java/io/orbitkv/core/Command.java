package io.orbitkv.core;

import io.orbitkv.core.copy.CopyTask;
import io.orbitkv.core.copy.EngineBuffers;
import io.orbitkv.core.copy.RestoreCopy;
import io.orbitkv.core.remote.PeerRun;
import io.orbitkv.core.remote.WantedBlock;
import io.orbitkv.core.ssd.SsdTask;
import io.orbitkv.state.HostEvent.Operation;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.Keys;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.identity.StateFormat;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the manager loop can be asked to do. A command carries values that were parsed from the
 * wire; whether it is legal is decided by the loop, so a hostile value here is answered with {@link
 * Reply.Refused}, never with an exception.
 */
public sealed interface Command {

  /** A command that somebody waits for. */
  sealed interface Request extends Command {
    ReplySink replyTo();
  }

  /** A request that comes through a session and is refused when the session is not open. */
  sealed interface SessionRequest extends Request {
    long sessionId();

    /**
     * The name the engine gave the request, for the journal; at most 64 visible ASCII characters.
     */
    String request();

    Operation operation();
  }

  // ---- sessions
  // ----------------------------------------------------------------------------------------------------

  /**
   * Opens a session. One that is open or draining for the same instance, shard and role is
   * superseded: its work drains first, so the answer may take until then.
   *
   * @param instance the deployment's name, 1 to 128 visible ASCII characters
   * @param namespace what blocks it shares, see {@link io.orbitkv.state.identity.Namespace}
   * @param format what its bytes mean; null exactly with {@code attachTo}
   * @param shard the rank's index, {@code 0 <= shard < shardCount}
   * @param shardCount the shards that this host holds; a block is sealed when every one has
   *     published its slice
   * @param attachTo an open session of the same instance and shard whose buffers this one uses and
   *     with which it ends, 0 if it stands alone
   * @param buffers the engine's pages, closed by the loop when they are not used any more, also
   *     when it refuses; null with {@code attachTo}, and for a session that neither publishes nor
   *     restores
   */
  record Register(
      String instance,
      String namespace,
      @Nullable StateFormat format,
      int shard,
      int shardCount,
      SessionRole role,
      int pid,
      int uid,
      long attachTo,
      @Nullable EngineBuffers buffers,
      ReplySink replyTo)
      implements Request {}

  /**
   * Ends a session; answered when its work has drained and its pages are unmapped. A session that
   * is closed already is answered at once, so that the late close of a superseded session does
   * nothing.
   */
  record CloseSession(long sessionId, SessionEnd reason, ReplySink replyTo) implements Request {}

  /**
   * Ends every session of an instance, drains its copies and unmaps its buffers, then answers.
   * Blocks stay.
   *
   * @param bySessionId the session that asks, refused when it is not an open one of the instance,
   *     so that a superseded session cannot clean up its successor; 0 for an operator
   */
  record CleanupInstance(String instance, long bySessionId, ReplySink replyTo) implements Request {}

  // ---- hot operations
  // ----------------------------------------------------------------------------------------------

  /**
   * The keys of one group's pages, from the page that starts at the query's start token on. Those
   * of a query that opens no ticket may be a view, good only while the loop takes the command.
   */
  record GroupKeys(int groupId, Keys keys) {}

  /**
   * Asks how far the engine can resume.
   *
   * @param startToken end of the valid prefix that the engine holds itself
   * @param limitToken no boundary beyond this; 0 for none
   * @param groups keys of every group of the namespace, ascending by group id
   * @param waitMillis how long a ticket may wait, 0 for the configured time
   * @param replace whether it replaces a pending ticket of the same request name and mode, which
   *     then ends even if this query is refused; otherwise it finds that ticket when it asks the
   *     same, and is refused when it does not
   */
  record Query(
      long sessionId,
      String request,
      int startToken,
      int limitToken,
      List<GroupKeys> groups,
      QueryMode mode,
      long waitMillis,
      boolean replace,
      ReplySink replyTo)
      implements SessionRequest {
    @Override
    public Operation operation() {
      return mode == QueryMode.PREPARE ? Operation.PREPARE : Operation.QUERY;
    }
  }

  /** What a query wants. */
  enum QueryMode {
    /** A lease on what is there now. */
    LEASE,
    /** A lease, after waiting for blocks that are on their way. */
    WAIT,
    /** The legal boundaries without a lease: a discovery promises nothing. */
    DISCOVER,
    /** What is on its way or on SSD shall be in memory soon; no lease. */
    PREPARE
  }

  /** Asks after a ticket: {@link Reply.Loading}, or, once, what the ticket turned into. */
  record Poll(long sessionId, String request, long ticketId, ReplySink replyTo)
      implements SessionRequest {
    @Override
    public Operation operation() {
      return Operation.POLL;
    }
  }

  /** What a {@link Cancel} is about. */
  sealed interface CancelTarget {
    record Ticket(long ticketId) implements CancelTarget {}

    /** The waiting query, publish or restore that will be answered through an equal sink. */
    record AnsweredTo(ReplySink sink) implements CancelTarget {}
  }

  /**
   * Ends something early. What is cancelled still gets its own answer, {@link Reply.Cancelled}
   * unless it ends otherwise first, and only when its copies have drained.
   */
  record Cancel(long sessionId, String request, CancelTarget target, ReplySink replyTo)
      implements SessionRequest {
    @Override
    public Operation operation() {
      return Operation.CANCEL;
    }
  }

  /**
   * Stores blocks; answered when the source pages may be reused.
   *
   * @param sourceBlocks the engine's page of each key; its length equals {@code keys.size()}. The
   *     array is owned
   */
  @SuppressWarnings(
      "ArrayRecordComponent") // compared by nobody; copies on the hot path help nobody
  record Publish(
      long sessionId, String request, int groupId, Keys keys, int[] sourceBlocks, ReplySink replyTo)
      implements SessionRequest {
    @Override
    public Operation operation() {
      return Operation.PUBLISH;
    }
  }

  /**
   * Where the leased blocks of one group go.
   *
   * @param fromToken where the first wanted page starts
   * @param targetBlocks the engine's page of each block from there on. The array is owned
   */
  @SuppressWarnings(
      "ArrayRecordComponent") // compared by nobody; copies on the hot path help nobody
  record GroupTarget(int groupId, int fromToken, int[] targetBlocks) {}

  /**
   * Copies leased blocks into the engine's pages; answered when every copy has drained.
   *
   * @param leaseId a lease of any session of the same instance
   * @param releaseLease whether the lease ends with the restore
   * @param progress told from copy threads how many layers are in place; null when only the whole
   *     matters
   */
  record Restore(
      long sessionId,
      String request,
      long leaseId,
      List<GroupTarget> targets,
      boolean releaseLease,
      RestoreCopy.@Nullable LayerProgress progress,
      ReplySink replyTo)
      implements SessionRequest {
    @Override
    public Operation operation() {
      return Operation.RESTORE;
    }
  }

  /** Ends a lease of any session of the same instance. Releasing twice does no harm. */
  record Release(long sessionId, String request, long leaseId, ReplySink replyTo)
      implements SessionRequest {
    @Override
    public Operation operation() {
      return Operation.RELEASE;
    }
  }

  // ---- peers
  // -------------------------------------------------------------------------------------------------------

  /**
   * A peer asks for the right to read blocks; answered with {@link Reply.Granted} or {@link
   * Reply.GrantRefused}, after blocks that are on SSD have been staged.
   *
   * @param peer who will read; it holds the grant until it releases it, it expires, or the peer is
   *     gone
   * @param ownerRuntime the run that is asked; any other refuses
   * @param format of the peer's namespace, see {@link io.orbitkv.core.remote.GrantFormat}
   * @param blocks all of one namespace
   * @param validMillis how long the peer wants it
   */
  record AuthorizeGrant(
      PeerRun peer,
      UUID ownerRuntime,
      String format,
      List<WantedBlock> blocks,
      long validMillis,
      ReplySink replyTo)
      implements Request {}

  /**
   * A peer gives a grant back; answered with {@link Reply.GrantReleased} or {@link
   * Reply.GrantRefused}. Its blocks stay pinned until it has drained.
   *
   * @param peer who got it
   */
  record ReleaseGrant(PeerRun peer, UUID grantId, ReplySink replyTo) implements Request {}

  /**
   * Runs of a host are gone: their grants are revoked and drained.
   *
   * @param runtime the run that is there now, whose grants stay; null if there is none
   */
  record PeerGone(NodeId node, @Nullable UUID runtime) implements Command {}

  /**
   * This host has learnt where a catalog shard is placed; it is written down for who reads the
   * journal later.
   *
   * @param members nodes, as the catalog orders them
   */
  record NotePlacement(int catalogShard, long generation, List<String> members)
      implements Command {}

  // ---- operators
  // ---------------------------------------------------------------------------------------------------

  /** Which blocks an operator wants gone. */
  sealed interface EvictSelector {
    /** Every block of the host. */
    record All() implements EvictSelector {}

    /** Every block of one namespace. */
    record OfNamespace(String namespace) implements EvictSelector {}

    /** Some blocks of one group. */
    record OfKeys(String namespace, int groupId, Keys keys) implements EvictSelector {}
  }

  /** Makes blocks unfindable at once; leased ones keep their memory until the lease ends. */
  record Evict(EvictSelector selector, ReplySink replyTo) implements Request {}

  /** Asks for a consistent picture of a part of the state. */
  record Inspect(Inspection what, ReplySink replyTo) implements Request {}

  /** Refuses new work from here on, drains, and answers when the epoch's end is journaled. */
  record Shutdown(String reason, ReplySink replyTo) implements Request {}

  // ---- workers
  // -----------------------------------------------------------------------------------------------------

  /**
   * A copy has ended, whatever became of it. Comes from the copy executor, never from a command
   * source.
   */
  record CopyDone(CopyTask task) implements Command {}

  /** Blocks have come back from SSD or gone there, or not. Comes from the store. */
  record SsdDone(SsdTask task) implements Command {}
}
