package io.orbitkv.catalog.membership;

import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/**
 * How long this host may believe that it is a member: until the lease would have run out if etcd
 * had counted from the moment the last answered renewal was sent. Anybody may ask, at any time; the
 * answer needs no thread to be running.
 */
final class Lease {
  private final LongSupplier clock;
  private final InstantSource wall;
  private volatile State state;

  private record State(boolean held, long until, String reason, Instant since) {}

  Lease(LongSupplier clock, InstantSource wall) {
    this.clock = clock;
    this.wall = wall;
    this.state = new State(false, 0, "not a member yet", wall.instant());
  }

  /** It is held until a time on the clock. */
  void held(long until) {
    State before = state;
    boolean goesOn = before.held && clock.getAsLong() - before.until < 0;
    state = new State(true, until, "", goesOn ? before.since : wall.instant());
  }

  /** It is not held, or will not be; a reason given earlier while it was fenced keeps its time. */
  void lost(String reason) {
    RemoteAdmission now = admission();
    Instant since = now instanceof RemoteAdmission.Fenced fenced ? fenced.since() : wall.instant();
    state = new State(false, 0, reason, since);
  }

  /** Why the last renewal failed, which is told once the lease runs out. */
  void trouble(String reason) {
    State before = state;
    state = new State(before.held, before.until, reason, before.since);
  }

  RemoteAdmission admission() {
    State now = state;
    if (!now.held) {
      return new RemoteAdmission.Fenced(now.reason, now.since);
    }
    long late = clock.getAsLong() - now.until;
    if (late < 0) {
      return new RemoteAdmission.Open(now.since);
    }
    String reason = now.reason.isEmpty() ? "the lease was not renewed" : now.reason;
    return new RemoteAdmission.Fenced(
        "the lease ran out: " + reason, wall.instant().minusNanos(late));
  }
}
