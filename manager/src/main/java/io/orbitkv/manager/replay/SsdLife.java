package io.orbitkv.manager.replay;

import io.orbitkv.manager.replay.BlockLife.Mark;
import io.orbitkv.state.HostEvent.BlocksDemoted;
import io.orbitkv.state.HostEvent.BlocksLoaded;
import io.orbitkv.state.HostEvent.BlocksLoading;
import io.orbitkv.state.HostEvent.LoadFailed;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostEvent.SsdEvicted;
import io.orbitkv.state.HostEvent.SsdSkipped;
import io.orbitkv.state.HostEvent.SsdWritten;
import io.orbitkv.state.HostEvent.TierFact;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a block's facts say of its copy on SSD, so that any moment of it can be told. */
final class SsdLife {
  private static final int MAX_EVENTS = 1_000;

  /** A fact about the block's copy. */
  record Event(Mark mark, TierFact fact) {}

  /**
   * How the block stood at a moment; each is null if it did not apply then.
   *
   * @param copied the copy that it had
   * @param dropped how the last copy went, if there was none any more
   * @param demoted since when it was on SSD only
   * @param loading the read that was under way
   * @param skipped why it never got a copy
   */
  record Standing(
      @Nullable Event copied,
      @Nullable Event dropped,
      @Nullable Event demoted,
      @Nullable Event loading,
      @Nullable Event skipped) {}

  private final List<Event> events = new ArrayList<>();

  void add(Mark mark, TierFact fact) {
    if (events.size() == MAX_EVENTS) {
      events.removeFirst();
    }
    events.add(new Event(mark, fact));
  }

  /** How it stood before a position. */
  Standing before(long position) {
    Event copied = null;
    Event dropped = null;
    Event demoted = null;
    Event loading = null;
    Event skipped = null;
    for (Event event : events) {
      if (event.mark.position() >= position) {
        break;
      }
      switch (event.fact) {
        case SsdWritten _ -> {
          copied = event;
          dropped = null;
        }
        case SsdEvicted _ -> {
          copied = null;
          dropped = event;
        }
        case BlocksDemoted _ -> demoted = event;
        case BlocksLoading _ -> loading = event;
        case BlocksLoaded _ -> {
          demoted = null;
          loading = null;
        }
        case LoadFailed failed -> {
          loading = null;
          if (losesTheCopy(failed)) {
            copied = null;
            dropped = event;
          }
        }
        case SsdSkipped _ -> skipped = event;
        default -> {}
      }
    }
    return new Standing(copied, dropped, demoted, loading, skipped);
  }

  /** The end of a read that was under way at a position, null if the journal has none. */
  @Nullable Event endOfRead(long position) {
    for (Event event : events) {
      if (event.mark.position() > position
          && (event.fact instanceof BlocksLoaded || event.fact instanceof LoadFailed)) {
        return event;
      }
    }
    return null;
  }

  /** Whether a block that is being read back is gone with its copy. */
  static boolean losesTheCopy(LoadFailed failed) {
    return failed.reason() != LoadFailure.CANCELLED && failed.reason() != LoadFailure.RESTART;
  }
}
