package io.orbitkv.catalog.membership;

import io.orbitkv.catalog.calls.Refusal;

/** What became of the attempt to become a member. */
public sealed interface JoinOutcome {

  /** This host is a member, with this record. */
  record Joined(MemberRecord record) implements JoinOutcome {}

  /** It cannot be: the daemon should not go on with other hosts. */
  record Refused(Refusal refusal) implements JoinOutcome {}
}
