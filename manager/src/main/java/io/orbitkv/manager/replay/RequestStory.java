package io.orbitkv.manager.replay;

import io.orbitkv.manager.NearNames;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.LeaseGranted;
import io.orbitkv.state.HostEvent.QueryMissed;
import io.orbitkv.state.HostEvent.RestoreStarted;
import io.orbitkv.state.HostEvent.VerifyFailed;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Collects, in one pass, the facts of one request and the keys that it missed. */
final class RequestStory implements Scan.Visitor {
  static final int MAX_FACTS = 400;
  private static final int MAX_MISSES = 1_000;

  /** A fact of the request and whom it concerns. */
  record Told(Fact fact, Links.Scope scope) {}

  /**
   * One group of one query that did not get all it asked for.
   *
   * @param waited whether the query had waited under a ticket
   */
  record Miss(long position, long atMicros, int namespaceId, GroupAnswer answer, boolean waited) {}

  private final String request;
  private final NearNames near;

  final List<Told> facts = new ArrayList<>();
  final List<Miss> misses = new ArrayList<>();
  final Set<Long> sessions = new TreeSet<>();
  final Set<Long> failedBlocks = new HashSet<>();
  final Set<Long> restoredLeases = new HashSet<>();
  final SsdReads reads = new SsdReads();
  long factCount;
  long queries;
  long askedBlocks;
  long hitBlocks;

  RequestStory(String request) {
    this.request = request;
    this.near = new NearNames(request, 5);
  }

  boolean found() {
    return factCount > 0;
  }

  /** Names that were seen and are like the one asked for. */
  List<String> nearNames() {
    return near.best();
  }

  @Override
  public boolean visit(Fact fact, Links links, Names names) {
    Links.Scope scope = links.scope(fact, names);
    boolean mine = scope.request().equals(request);
    reads.visit(fact, mine);
    if (!mine) {
      if (factCount == 0) {
        near.offer(scope.request());
      }
      return true;
    }
    factCount++;
    if (facts.size() < MAX_FACTS) {
      facts.add(new Told(fact, scope));
    }
    if (scope.sessionId() != 0) {
      sessions.add(scope.sessionId());
    }
    switch (fact.event()) {
      case LeaseGranted event -> missed(fact, event.answers(), scope, names);
      case QueryMissed event -> missed(fact, event.answers(), scope, names);
      case VerifyFailed event -> failedBlocks.add(event.blockId());
      case RestoreStarted event -> restoredLeases.add(event.leaseId());
      default -> {}
    }
    return true;
  }

  private void missed(Fact fact, List<GroupAnswer> answers, Links.Scope scope, Names names) {
    queries++;
    int namespaceId = names.namespaceOf(scope.sessionId());
    for (GroupAnswer answer : answers) {
      askedBlocks += answer.askedBlocks();
      hitBlocks += answer.hitBlocks();
      if (answer.hitBlocks() < answer.askedBlocks() && misses.size() < MAX_MISSES) {
        misses.add(new Miss(fact.position(), fact.atMicros(), namespaceId, answer, reads.waits()));
      }
    }
  }
}
