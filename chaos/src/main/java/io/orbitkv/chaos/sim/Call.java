package io.orbitkv.chaos.sim;

import io.orbitkv.core.Reply;
import io.orbitkv.core.ReplySink;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One request on its way: what was asked, what must come of it, and what did. */
final class Call implements ReplySink {
  private final Supplier<String> what;
  final @Nullable SimSession session;
  private final Simulation simulation;

  /** Looks at each answer. */
  private final Consumer<Reply> check;

  /** Done at the moment the loop takes the request. */
  Runnable whenHandled = () -> {};

  /** Place among all that was handled and answered, 0 before it was handled. */
  long handled;

  /** The duty cycle in which it was handled. */
  long cycle;

  /** Facts other than observations that the loop added as it took the request. */
  int changes;

  /** It ends a pending query of the same name, also when it is refused itself. */
  boolean replaces;

  /**
   * It may end its predecessor and wait for it, so that a stop of the daemon behind it refuses it
   * after that. Not what is handled when the daemon already stops.
   */
  boolean supersedes;

  /** The session (and the lease) are surely good: what is stale may not be the answer. */
  boolean mustWork;

  /** The session or the lease is surely over: anything but a refusal is wrong. */
  boolean mustFail;

  /** It asks after a ticket, so that "still pending" is an answer. */
  boolean polls;

  /** Somebody asked that it ends early. */
  boolean cancelled;

  /** How long a query may be pending, microseconds. */
  long waitMicros;

  /** When a pending query must have its answer, monotonic clock; 0 when it is not pending. */
  long dueMicros;

  int answers;
  @Nullable Reply last;

  Call(
      Simulation simulation,
      Supplier<String> what,
      @Nullable SimSession session,
      Consumer<Reply> check) {
    this.simulation = simulation;
    this.what = what;
    this.session = session;
    this.check = check;
  }

  boolean answered() {
    return last != null && (polls || !(last instanceof Reply.Loading));
  }

  String what() {
    return what.get();
  }

  @Override
  public void reply(Reply reply) {
    simulation.answered(this, reply, check);
  }

  @Override
  public String toString() {
    return what.get();
  }
}
