package io.orbitkv.manager.replay;

import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent.BlocksLoaded;
import io.orbitkv.state.HostEvent.LoadFailed;
import io.orbitkv.state.HostEvent.TicketClosed;
import io.orbitkv.state.HostEvent.TicketOpened;
import io.orbitkv.state.LongRanges;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What came back from SSD, or did not, for the tickets of one request. */
final class SsdReads {
  private static final int MAX_READS = 100;

  private final Map<Long, LongRanges> awaited = new HashMap<>();
  private final List<String> told = new ArrayList<>();

  /** Takes a fact of anybody. */
  void visit(Fact fact, boolean ofTheRequest) {
    switch (fact.event()) {
      case TicketOpened event when ofTheRequest -> awaited.put(event.ticketId(), event.awaited());
      case TicketClosed event -> awaited.remove(event.ticketId());
      case BlocksLoaded event -> {
        long blocks = wanted(event.blocks());
        if (blocks > 0) {
          tell(
              "%s came from SSD: read at position %s in %s%s"
                  .formatted(
                      Words.count(blocks, "block"),
                      Words.count(fact.position()),
                      Words.duration(event.durationMicros()),
                      blocks == event.blocks().size()
                          ? ", " + Words.bytes(event.bytes())
                          : ", with others of the same read"));
        }
      }
      case LoadFailed event -> {
        long blocks = wanted(event.blocks());
        if (blocks > 0) {
          tell(
              "%s could not be read from SSD at position %s: %s%s"
                  .formatted(
                      Words.count(blocks, "block"),
                      Words.count(fact.position()),
                      Words.of(event.reason()),
                      event.detail().isEmpty() ? "" : ", " + event.detail()));
        }
      }
      default -> {}
    }
  }

  /** Whether a ticket of the request is open. */
  boolean waits() {
    return !awaited.isEmpty();
  }

  /** One line a read. */
  List<String> lines() {
    return told;
  }

  private long wanted(LongRanges read) {
    if (awaited.isEmpty()) {
      return 0;
    }
    long[] count = new long[1];
    read.forEach(
        id -> {
          if (awaited.values().stream().anyMatch(ids -> ids.contains(id))) {
            count[0]++;
          }
        });
    return count[0];
  }

  private void tell(String line) {
    if (told.size() < MAX_READS) {
      told.add(line);
    }
  }
}
