package io.orbitkv.core;

import io.orbitkv.core.remote.BlockGrant;
import io.orbitkv.core.remote.GrantRefusal;
import io.orbitkv.core.remote.GrantedRanges;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.recovery.BoundarySet;
import io.orbitkv.state.recovery.GroupRange;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What the manager loop answers. Everything said here is in the journal already. */
public sealed interface Reply {

  // ---- sessions
  // ----------------------------------------------------------------------------------------------------

  /**
   * The session is open.
   *
   * @param supersededSessionId the session that this one replaced, 0 if none
   */
  record Registered(
      long sessionId, long instanceId, int namespaceId, long epoch, long supersededSessionId)
      implements Reply {}

  /** No byte of the session's pages is touched any more. */
  record SessionClosed(long sessionId) implements Reply {}

  /**
   * Every session of the instance has ended; the numbers say what they held.
   *
   * @param instanceId 0 if there was no such instance
   */
  record InstanceCleaned(long instanceId, int sessionsClosed, int leasesReleased, int ticketsClosed)
      implements Reply {}

  // ---- query
  // -------------------------------------------------------------------------------------------------------

  /**
   * Everything up to the boundary is leased.
   *
   * @param ticketId the ticket that this answers, 0 if the query did not wait
   * @param expiresAtMicros wall clock, microseconds since 1970
   * @param boundaryToken where the engine may resume: the longest legal boundary
   * @param ranges what is leased of each group: the first block of a group holds the page at {@code
   *     start}
   * @param foundBlocks how many keys of each group were found sealed
   * @param boundaries legal boundaries that this lease covers, {@code boundaryToken} last
   */
  @SuppressWarnings(
      "ArrayRecordComponent") // compared by nobody; copies on the hot path help nobody
  record Ready(
      long leaseId,
      long ticketId,
      long expiresAtMicros,
      int startToken,
      int boundaryToken,
      List<GroupRange> ranges,
      int[] foundBlocks,
      BoundarySet boundaries)
      implements Reply {}

  /**
   * Blocks are on their way. The same sink is called once more when the ticket ends, with {@link
   * Ready}, {@link Missed}, {@link Prepared}, {@link Cancelled} or {@link Refused}; so is every
   * sink that found the ticket by asking the same again.
   *
   * @param waitMillis how long the ticket lives from now
   */
  record Loading(long ticketId, long waitMillis) implements Reply {}

  /**
   * No boundary can be reached.
   *
   * @param expired whether the ticket's time ran out while blocks were still on their way
   */
  @SuppressWarnings(
      "ArrayRecordComponent") // compared by nobody; copies on the hot path help nobody
  record Missed(long ticketId, int startToken, int[] foundBlocks, boolean expired)
      implements Reply {}

  /**
   * Every legal boundary on the present evidence, without a lease; ranges are those of the last
   * one.
   */
  @SuppressWarnings(
      "ArrayRecordComponent") // compared by nobody; copies on the hot path help nobody
  record Discovered(
      int startToken, List<GroupRange> ranges, int[] foundBlocks, BoundarySet boundaries)
      implements Reply {}

  /**
   * What could be brought into memory is there, and nothing keeps it there.
   *
   * @param ticketId the ticket that ends with it, 0 if nothing had to come
   * @param boundaryToken the longest legal boundary that is in memory, the start token if there is
   *     none
   * @param expired whether the time ran out while more was on its way
   */
  record Prepared(long ticketId, int boundaryToken, boolean expired) implements Reply {}

  /**
   * The cancel was heard.
   *
   * @param wasOpen whether there was something to cancel
   */
  record CancelTaken(boolean wasOpen) implements Reply {}

  /**
   * The request ended because it was cancelled; its copies have drained.
   *
   * @param replaced whether a newer query of the same name took its place
   */
  record Cancelled(boolean replaced) implements Reply {}

  /**
   * The lease is over.
   *
   * @param wasOpen false when the lease had ended before, or never was
   */
  record Released(long leaseId, boolean wasOpen) implements Reply {}

  // ---- bytes
  // -------------------------------------------------------------------------------------------------------

  /**
   * The source pages may be reused.
   *
   * @param stored blocks whose bytes this publish stored
   * @param already blocks of which this shard's slice was stored before, or that appear earlier in
   *     the same request
   * @param elsewhere blocks that another publish is storing
   * @param refused blocks for which there was no room
   * @param bytes of the engine that were stored
   * @param outcomes one {@link PublishOutcome#code} for each block, in request order
   * @param why what the refused blocks wanted, null if none was refused
   */
  @SuppressWarnings(
      "ArrayRecordComponent") // compared by nobody; copies on the hot path help nobody
  record Published(
      int stored,
      int already,
      int elsewhere,
      int refused,
      long bytes,
      byte[] outcomes,
      @Nullable Refused why)
      implements Reply {}

  /** What became of one published block. */
  enum PublishOutcome {
    STORED(0),
    ALREADY(1),
    ELSEWHERE(2),
    REFUSED(3);

    private final byte code;

    PublishOutcome(int code) {
      this.code = (byte) code;
    }

    /** The value on the wire. */
    public byte code() {
      return code;
    }
  }

  /** Every byte is in place and had the sum that was recorded when it was published. */
  record Restored(long restoreId, int blocks, long bytes, long durationMicros) implements Reply {}

  /**
   * A publish or restore began and did not succeed; its copies have drained. Nothing of a failed
   * publish can be found; every target page of a failed restore is undefined.
   */
  record Failed(RefusalCode code, String message) implements Reply {}

  // ---- peers
  // -------------------------------------------------------------------------------------------------------

  /** What peers are answered, and nobody else. */
  sealed interface ToPeer extends Reply {}

  /**
   * A peer may read; the blocks are pinned.
   *
   * @param validMillis how long reads may begin
   * @param blocks the outcome of each block, as they were asked
   */
  record Granted(GrantedRanges.Admission admission, long validMillis, List<BlockGrant> blocks)
      implements ToPeer {}

  /** A grant admits nothing new from here on. */
  record GrantReleased(UUID grantId) implements ToPeer {}

  /** A peer gets nothing. */
  record GrantRefused(GrantRefusal reason, String message) implements ToPeer {}

  // ---- operators
  // ---------------------------------------------------------------------------------------------------

  /**
   * The blocks can be found no more.
   *
   * @param freedBytes allocated bytes that returned at once
   * @param retainedBytes allocated bytes that return when a lease or an operation ends
   */
  record Evicted(long blocks, long freedBytes, long retainedBytes) implements Reply {}

  record Inspected(Inspection.Answer answer) implements Reply {}

  /**
   * The epoch has ended.
   *
   * @param lastPosition of the fact that ended the epoch
   */
  record ShutDown(long lastPosition) implements Reply {}

  // ---- refusal
  // -----------------------------------------------------------------------------------------------------

  /**
   * Nothing changed.
   *
   * @param message what is wrong, for a person
   * @param field path of the refused field of a registration, null for other requests
   * @param retryAfterMillis when the same request may succeed, 0 if time alone does not help
   */
  record Refused(RefusalCode code, String message, @Nullable String field, long retryAfterMillis)
      implements Reply {
    Refused(RefusalCode code, String message) {
      this(code, message, null, code.retryAfterMillis());
    }

    public RefusalCategory category() {
      return code.category();
    }

    public String remedy() {
      return code.remedy();
    }
  }
}
