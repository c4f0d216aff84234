package io.orbitkv.manager.replay;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.TierFact;
import java.util.UUID;

/** What a fact about the SSD tier or a pool that outlives the daemon says, for a person. */
final class TierText {
  private TierText() {}

  static String what(TierFact fact, Names names) {
    return switch (fact) {
      case HostEvent.SsdTierOpened event -> {
        long bytes = 0;
        for (int file = 0; file < event.fileBytes().size(); file++) {
          bytes += event.fileBytes().get(file);
        }
        yield "tier %s, %s in %s"
            .formatted(
                new UUID(event.tierIdHigh(), event.tierIdLow()),
                Words.bytes(bytes),
                Words.count(event.fileBytes().size(), "file"));
      }
      case HostEvent.LayersBound event ->
          "slice %d of %s: %s"
              .formatted(
                  event.slice(),
                  names.group(event.namespaceId(), event.groupId()),
                  Words.count(event.layers().size(), "layer"));
      case HostEvent.SsdWritten event -> FactText.blocks(event.blocks());
      case HostEvent.SsdEvicted event ->
          "%s: %s%s"
              .formatted(
                  FactText.blocks(event.blocks()),
                  Words.of(event.cause()),
                  forWhom(names, event.forSessionId(), event.forRequest()));
      case HostEvent.BlocksDemoted event ->
          "%s: %s%s"
              .formatted(
                  FactText.blocks(event.blocks()),
                  Words.of(event.cause()),
                  forWhom(names, event.forSessionId(), event.forRequest()));
      case HostEvent.BlocksLoading event ->
          "%s%s%s"
              .formatted(
                  FactText.blocks(event.blocks()),
                  forWhom(names, event.forSessionId(), event.forRequest()),
                  event.ticketId() == 0 ? "" : ", ticket " + event.ticketId());
      case HostEvent.BlocksLoaded event ->
          "%s, %s in %s"
              .formatted(
                  FactText.blocks(event.blocks()),
                  Words.bytes(event.bytes()),
                  Words.duration(event.durationMicros()));
      case HostEvent.LoadFailed event ->
          "%s: %s%s"
              .formatted(
                  FactText.blocks(event.blocks()),
                  Words.of(event.reason()),
                  event.detail().isEmpty() ? "" : ": " + event.detail());
      case HostEvent.TierDegraded event ->
          "%s: %s".formatted(Words.of(event.trouble()), event.detail());
      case HostEvent.TierRecovered event -> Words.of(event.trouble()) + " no more";
      case HostEvent.SsdSkipped event ->
          "%s: %s".formatted(FactText.blocks(event.blocks()), Words.of(event.reason()));
      case HostEvent.PoolFact event -> what(event);
    };
  }

  private static String what(HostEvent.PoolFact fact) {
    return switch (fact) {
      case HostEvent.PoolOpened event ->
          (event.poolIdHigh() | event.poolIdLow()) == 0
              ? "memory that dies with the daemon"
              : "pool " + new UUID(event.poolIdHigh(), event.poolIdLow());
      case HostEvent.BlocksKept event -> FactText.blocks(event.blocks()) + ", to be verified";
      case HostEvent.BlocksAdopted event ->
          "%s, %s in %s"
              .formatted(
                  FactText.blocks(event.blocks()),
                  Words.bytes(event.bytes()),
                  Words.duration(event.durationMicros()));
      case HostEvent.BlocksNotAdopted event ->
          "%s: %s%s"
              .formatted(
                  FactText.blocks(event.blocks()),
                  Words.of(event.reason()),
                  event.detail().isEmpty() ? "" : ": " + event.detail());
    };
  }

  private static String forWhom(Names names, long sessionId, String request) {
    return sessionId == 0 ? "" : ", for " + names.who(sessionId) + FactText.forRequest(request);
  }
}
