package io.orbitkv.manager.replay;

import io.orbitkv.manager.replay.Links.Link;
import io.orbitkv.manager.replay.Links.Scope;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.LongRanges;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A fact as one line for a person. */
final class FactText {
  private static final int MAX_RUNS = 6;

  private final Times times;
  private final Names names;

  FactText(Times times, Names names) {
    this.times = times;
    this.names = names;
  }

  /** {@code 4,711 2026-11-30 12:00:01.123456 LeaseGranted ...}. */
  String line(Fact fact, Scope scope) {
    return String.format(
            Locale.ROOT,
            "%9d  %s  %-19s  %s",
            fact.position(),
            times.text(fact.atMicros()),
            fact.event().getClass().getSimpleName(),
            what(fact, scope))
        .stripTrailing();
  }

  /** What happened, without when. */
  String what(Fact fact, Scope scope) {
    return switch (fact.event()) {
      case HostEvent.EpochStarted event ->
          "epoch %d of version %s, pool %s"
              .formatted(event.epoch(), event.version(), Words.bytes(event.poolBytes()));
      case HostEvent.EpochEnded event -> "epoch %d: %s".formatted(event.epoch(), event.reason());
      case HostEvent.NamespaceBound event ->
          "namespace %d is %s: format %s, %s"
              .formatted(
                  event.namespaceId(),
                  event.namespace(),
                  event.format().fingerprint(),
                  Words.count(event.shardCount(), "shard"));
      case HostEvent.NamespaceUnbound event ->
          "namespace %d, %s"
              .formatted(event.namespaceId(), names.namespaceName(event.namespaceId()));
      case HostEvent.InstanceRegistered event ->
          "instance %d is %s in namespace %s"
              .formatted(
                  event.instanceId(), event.instance(), names.namespaceName(event.namespaceId()));
      case HostEvent.InstanceCleaned event ->
          "instance %d, %s: %s"
              .formatted(
                  event.instanceId(),
                  names.instanceName(event.instanceId()),
                  Words.of(event.reason()));
      case HostEvent.SessionOpened event ->
          "session %d of %s: shard %d, %s, pid %d%s"
              .formatted(
                  event.sessionId(),
                  names.instanceName(event.instanceId()),
                  event.shard(),
                  Words.of(event.role()),
                  event.pid(),
                  event.supersedes() == 0 ? "" : ", supersedes session " + event.supersedes());
      case HostEvent.SessionClosed event ->
          "%s: %s".formatted(names.who(event.sessionId()), Words.of(event.reason()));
      case HostEvent.SlicesReserved event ->
          "publish %d of %s: shard %d of %s in %s, %d new, %s each%s"
              .formatted(
                  event.publishId(),
                  names.who(event.sessionId()),
                  event.shard(),
                  blocks(event.blocks()),
                  names.group(names.namespaceOf(event.sessionId()), event.groupId()),
                  event.newKeys().size(),
                  Words.bytes(event.extentBytes()),
                  forRequest(event.request()));
      case HostEvent.SlicesPublished event ->
          "publish %d: %s%s"
              .formatted(
                  event.publishId(),
                  Words.count(event.checksums().size(), "slice"),
                  since(fact, scope));
      case HostEvent.PublishAborted event ->
          "publish %d: %s%s"
              .formatted(event.publishId(), Words.of(event.reason()), since(fact, scope));
      case HostEvent.BlocksEvicted event ->
          "%s: %s%s"
              .formatted(
                  blocks(event.blocks()),
                  Words.of(event.cause()),
                  event.forSessionId() == 0
                      ? ""
                      : (event.cause() == HostEvent.EvictionCause.CAPACITY
                              ? ", to make room for "
                              : ", for ")
                          + names.who(event.forSessionId())
                          + forRequest(event.forRequest()));
      case HostEvent.LeaseGranted event ->
          "lease %d to %s%s: %s; asked %s"
              .formatted(
                  event.leaseId(),
                  names.who(event.sessionId()),
                  forRequest(event.request()),
                  held(event.held()),
                  answers(event.answers()));
      case HostEvent.LeaseReleased event ->
          "lease %d: %s%s".formatted(event.leaseId(), Words.of(event.reason()), since(fact, scope));
      case HostEvent.TicketOpened event ->
          "ticket %d to %s%s: waits for %s"
              .formatted(
                  event.ticketId(),
                  names.who(event.sessionId()),
                  forRequest(event.request()),
                  blocks(event.awaited()));
      case HostEvent.TicketClosed event ->
          "ticket %d: %s%s%s"
              .formatted(
                  event.ticketId(),
                  Words.of(event.outcome()),
                  event.leaseId() == 0 ? "" : ", lease " + event.leaseId(),
                  since(fact, scope));
      case HostEvent.RestoreStarted event ->
          "restore %d of %s under lease %d%s: %s, %s"
              .formatted(
                  event.restoreId(),
                  names.who(event.sessionId()),
                  event.leaseId(),
                  forRequest(scope.request()),
                  Words.count(event.blocks(), "block"),
                  Words.bytes(event.bytes()));
      case HostEvent.RestoreFinished event ->
          "restore %d: %s, %s in %s"
              .formatted(
                  event.restoreId(),
                  Words.of(event.outcome()),
                  Words.bytes(event.bytes()),
                  Words.duration(event.durationMicros()));
      case HostEvent.QueryMissed event ->
          "%s%s: asked %s"
              .formatted(
                  names.who(event.sessionId()),
                  forRequest(event.request()),
                  answers(event.answers()));
      case HostEvent.RequestRefused event ->
          "%s of %s%s: %s: %s"
              .formatted(
                  Words.of(event.operation()),
                  names.who(event.sessionId()),
                  forRequest(event.request()),
                  Words.of(event.category()),
                  event.reason());
      case HostEvent.RegistrationRefused event ->
          "%s in namespace %s: %s".formatted(event.instance(), event.namespace(), refusal(event));
      case HostEvent.VerifyFailed event ->
          "block %d shard %d, restore %d: sum %s, published with %s"
              .formatted(
                  event.blockId(),
                  event.shard(),
                  event.restoreId(),
                  Words.hex(event.actual()),
                  Words.hex(event.expected()));
      case HostEvent.DigestRecorded event ->
          "%s with %s and %s"
              .formatted(
                  Words.hex(event.digest()),
                  Words.count(event.liveBlocks(), "live block"),
                  Words.count(event.openLeases(), "open lease"));
      case HostEvent.TierFact event -> TierText.what(event, names);
      case HostEvent.PeerFact event -> PeerText.what(event, names);
      case HostEvent.PlacementSeen event ->
          "catalog shard %d, generation %d: %s"
              .formatted(
                  event.catalogShard(), event.generation(), String.join(", ", event.members()));
    };
  }

  /** The reason, and the field where the reason does not begin with it. */
  static String refusal(HostEvent.RegistrationRefused event) {
    return event.reason().startsWith(event.field())
        ? event.reason()
        : event.field() + ": " + event.reason();
  }

  static String forRequest(String request) {
    return request.isEmpty() ? "" : " for request " + request;
  }

  private static String since(Fact fact, Scope scope) {
    Link opened = scope.opened();
    return opened == null
        ? ""
        : " after "
            + Words.duration(fact.atMicros() - opened.atMicros())
            + forRequest(opened.request());
  }

  static String blocks(LongRanges blocks) {
    if (blocks.isEmpty()) {
      return "no block";
    }
    String ids =
        blocks.runs() <= MAX_RUNS ? blocks.toString() : blocks.slice(0, runsSize(blocks)) + ", ..";
    return blocks.size() == 1
        ? "block " + ids
        : Words.count(blocks.size(), "block") + " (" + ids + ")";
  }

  private static int runsSize(LongRanges blocks) {
    int size = 0;
    for (int run = 0; run < MAX_RUNS; run++) {
      size += blocks.count(run);
    }
    return size;
  }

  private static String held(List<GroupLease> held) {
    return held.stream()
        .map(
            lease ->
                blocks(lease.blocks()) + (held.size() == 1 ? "" : " of group " + lease.groupId()))
        .collect(Collectors.joining("; "));
  }

  private static String answers(List<GroupAnswer> answers) {
    return answers.isEmpty()
        ? "for nothing"
        : answers.stream()
            .map(
                answer ->
                    "%s%s, hit %s (%s)"
                        .formatted(
                            Words.count(answer.askedBlocks()),
                            answers.size() == 1 ? "" : " of group " + answer.groupId(),
                            Words.count(answer.hitBlocks()),
                            Words.percent(answer.hitBlocks(), answer.askedBlocks())))
            .collect(Collectors.joining("; "));
  }
}
