package io.orbitkv.journal;

import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.HostState;

/** What opening a journal for a daemon run came to. */
public sealed interface Recovered {

  /** The state as the journal tells it, and the journal ready for the next fact. */
  record Opened(HostState state, Journal journal, RecoveryReport report) implements Recovered {}

  /** The journal cannot be used as it is; nothing was changed. */
  record Refused(RefusalCategory category, String code, String message, String remedy)
      implements Recovered {}
}
