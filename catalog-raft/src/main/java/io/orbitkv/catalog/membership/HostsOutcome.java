package io.orbitkv.catalog.membership;

import io.orbitkv.catalog.calls.Refusal;

/** What became of an attempt to agree on the host set. */
public sealed interface HostsOutcome {

  /** The set in force: the one that was proposed, unless another was agreed before. */
  record Agreed(HostSet hosts) implements HostsOutcome {}

  /** Nothing changed. */
  record Refused(Refusal refusal) implements HostsOutcome {}
}
