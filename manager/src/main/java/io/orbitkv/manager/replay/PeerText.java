package io.orbitkv.manager.replay;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.PeerFact;
import java.util.UUID;

/** What a fact about other hosts says, for a person. */
final class PeerText {
  private PeerText() {}

  static String what(PeerFact fact, Names names) {
    return switch (fact) {
      case HostEvent.GrantOpened event ->
          "grant %d (%s): %s may read %s, %s"
              .formatted(
                  event.grantId(),
                  new UUID(event.uuidHigh(), event.uuidLow()),
                  event.peer().node(),
                  FactText.blocks(event.blocks()),
                  Words.bytes(event.bytes()));
      case HostEvent.GrantClosed event ->
          "grant %d: %s, drained after %s"
              .formatted(
                  event.grantId(), Words.of(event.reason()), Words.count(event.reads(), "read"));
      case HostEvent.RemoteReadBegun event -> {
        int blocks = event.groups().stream().mapToInt(group -> group.keys().size()).sum();
        yield "remote read %d: %s of %s%s%s"
            .formatted(
                event.readId(),
                Words.count(blocks, "block"),
                event.owner().node(),
                event.forSessionId() == 0
                    ? ""
                    : ", for "
                        + names.who(event.forSessionId())
                        + FactText.forRequest(event.forRequest()),
                event.ticketId() == 0 ? "" : ", ticket " + event.ticketId());
      }
      case HostEvent.RemoteReadQuarantined event ->
          "remote read %d failed: %s%s; bytes may still come"
              .formatted(event.readId(), Words.of(event.reason()), detail(event.detail()));
      case HostEvent.RemoteReadEnded event ->
          "remote read %d: %s, %s in %s%s"
              .formatted(
                  event.readId(),
                  FactText.blocks(event.arrived()),
                  Words.bytes(event.bytes()),
                  Words.duration(event.durationMicros()),
                  event.failure() == HostEvent.RemoteFailure.NONE
                      ? ""
                      : "; the rest did not come: "
                          + Words.of(event.failure())
                          + detail(event.detail()));
    };
  }

  private static String detail(String text) {
    return text.isEmpty() ? "" : ": " + text;
  }
}
