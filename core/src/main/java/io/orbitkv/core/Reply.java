package io.orbitkv.core;

import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.recovery.BoundarySet;
import io.orbitkv.state.recovery.GroupRange;
import java.util.List;

/** What the manager loop answers. Everything said here is in the journal already. */
public sealed interface Reply {

  // ---- sessions ----------------------------------------------------------------------------------------------------

  /** @param supersededSessionId the session that this one replaced, 0 if none */
  record Registered(long sessionId, long instanceId, long epoch, long supersededSessionId)
      implements Reply {}

  record SessionClosed(long sessionId) implements Reply {}

  /** @param instanceId 0 if there was no such instance */
  record InstanceCleaned(long instanceId) implements Reply {}

  // ---- query -------------------------------------------------------------------------------------------------------

  /**
   * Everything up to the boundary is leased.
   *
   * @param ticketId the ticket that this answers, 0 if the query did not wait
   * @param boundaryToken where the engine may resume: the longest legal boundary
   * @param ranges what is leased of each group; block {@code i} of a group's lease holds its page at {@code start + i *
   *     pageTokens}
   * @param boundaries every legal boundary, so that ranks can intersect theirs
   */
  record Ready(
      long leaseId,
      long ticketId,
      long expiresAtMicros,
      int boundaryToken,
      List<GroupRange> ranges,
      BoundarySet boundaries)
      implements Reply {}

  /**
   * Blocks are on their way. The same sink is called once more when the ticket ends, with {@link Ready}, {@link Missed},
   * {@link Cancelled} or {@link Refused}; sinks that found the ticket by asking again are not.
   */
  record Loading(long ticketId, long deadlineMicros) implements Reply {}

  /** No boundary can be reached. */
  record Missed(long ticketId, List<GroupAnswer> answers) implements Reply {}

  /** Every legal boundary, without a lease. */
  record Discovered(BoundarySet boundaries) implements Reply {}

  record Cancelled(long ticketId) implements Reply {}

  record Released(long leaseId) implements Reply {}

  // ---- bytes -------------------------------------------------------------------------------------------------------

  /**
   * The source pages may be reused.
   *
   * @param stored blocks whose bytes this publish stored
   * @param already blocks that were stored before, or appear earlier in the same request
   * @param elsewhere blocks that another publish is storing
   * @param refused blocks for which there was no room
   * @param outcomes one {@link PublishOutcome} ordinal for each block, in request order
   */
  record Published(int stored, int already, int elsewhere, int refused, byte[] outcomes)
      implements Reply {}

  /** What became of one published block; the ordinal is its wire value. */
  enum PublishOutcome {
    STORED,
    ALREADY,
    ELSEWHERE,
    REFUSED
  }

  /** Every byte is in place and had the sum that was recorded when it was published. */
  record Restored(long restoreId, int blocks, long bytes, long durationMicros) implements Reply {}

  // ---- operators ---------------------------------------------------------------------------------------------------

  /** @param retainedBytes allocated bytes that return only when a lease or an operation ends */
  record Evicted(int blocks, long freedBytes, long retainedBytes) implements Reply {}

  record Inspected(Inspection.Answer answer) implements Reply {}

  record ShutDown(long lastPosition) implements Reply {}

  // ---- refusal -----------------------------------------------------------------------------------------------------

  /**
   * Nothing changed.
   *
   * @param code stable upper-case name for programs, such as {@code JOURNAL_FULL}
   * @param message what is wrong, for a person
   * @param remedy what to do about it
   * @param retryAfterMillis when the same request may succeed, 0 if time alone does not help
   */
  record Refused(
      RefusalCategory category, String code, String message, String remedy, long retryAfterMillis)
      implements Reply {}
}
