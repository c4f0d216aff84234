package io.orbitkv.manager.replay;

import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostState;
import io.orbitkv.state.OpenLease;
import io.orbitkv.state.OpenPublish;
import io.orbitkv.state.OpenRestore;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Gathers in one fold what the report page shows. Its size does not grow with the journal. */
final class ReportData extends Watcher {
  private static final int MAX_EPOCHS = 50;

  /** One daemon run. */
  record Epoch(long epoch, String version, long atMicros, long position) {}

  final Timeline timeline = new Timeline();
  final TopList requests = new TopList();
  final TopList namespaces = new TopList();
  final TierFigures tier = new TierFigures();
  final List<Epoch> epochs = new ArrayList<>();
  final LatencyCounts restores = new LatencyCounts();
  final LatencyCounts publishes = new LatencyCounts();
  private Timeline.Stretch now = new Timeline.Stretch();

  ReportData(Progress progress) {
    super(progress);
  }

  @Override
  void see(Fact fact, HostState before) {
    now = timeline.at(fact.atMicros());
    now.facts++;
    tier.see(fact.event());
    switch (fact.event()) {
      case HostEvent.EpochStarted event -> {
        if (epochs.size() < MAX_EPOCHS) {
          epochs.add(new Epoch(event.epoch(), event.version(), fact.atMicros(), fact.position()));
        }
      }
      case HostEvent.LeaseGranted event ->
          asked(event.sessionId(), event.request(), event.answers());
      case HostEvent.QueryMissed event ->
          asked(event.sessionId(), event.request(), event.answers());
      case HostEvent.SlicesPublished event -> published(fact, before.publish(event.publishId()));
      case HostEvent.RestoreFinished event -> restored(event, before);
      case HostEvent.BlocksEvicted event ->
          now.evicted.merge(event.cause(), (long) event.blocks().size(), Long::sum);
      case HostEvent.RequestRefused _, HostEvent.RegistrationRefused _ -> now.refusals++;
      default -> {}
    }
  }

  private void asked(long sessionId, String request, List<GroupAnswer> answers) {
    now.queries++;
    long asked = 0;
    long hit = 0;
    for (GroupAnswer answer : answers) {
      asked += answer.askedBlocks();
      hit += answer.hitBlocks();
    }
    now.askedBlocks += asked;
    now.hitBlocks += hit;
    for (TopList.Entry entry : entries(sessionId, request)) {
      entry.askedBlocks += asked;
      entry.hitBlocks += hit;
    }
  }

  private List<TopList.Entry> entries(long sessionId, String request) {
    TopList.Entry namespace = namespaces.of(names.namespaceName(names.namespaceOf(sessionId)));
    return request.isEmpty() ? List.of(namespace) : List.of(namespace, requests.of(request));
  }

  private void published(Fact fact, @Nullable OpenPublish publish) {
    if (publish == null) {
      return;
    }
    long bytes = (long) publish.blocks().size() * publish.extentBytes();
    now.publishedBytes += bytes;
    now.publishes.add(fact.atMicros() - publish.atMicros());
    publishes.add(fact.atMicros() - publish.atMicros());
    entries(publish.sessionId(), publish.request()).forEach(entry -> entry.publishedBytes += bytes);
  }

  private void restored(HostEvent.RestoreFinished event, HostState before) {
    OpenRestore restore = before.restore(event.restoreId());
    if (restore == null || event.outcome() != HostEvent.RestoreOutcome.DONE) {
      return;
    }
    now.restoredBytes += event.bytes();
    now.restores.add(event.durationMicros());
    restores.add(event.durationMicros());
    OpenLease lease = before.lease(restore.leaseId());
    entries(restore.sessionId(), lease == null ? "" : lease.request())
        .forEach(entry -> entry.restoredBytes += event.bytes());
  }

  @Override
  public void after(Fact fact, HostState state) {
    now.extentBytes = state.extentBytes();
    now.poolBytes = state.poolBytes();
    now.sealedBlocks = state.sealedBlocks();
    now.reservedBlocks = state.reservedBlocks();
    now.peakLeases = Math.max(now.peakLeases, state.openLeases());
    now.peakRestores = Math.max(now.peakRestores, state.openRestores());
  }
}
