package io.orbitkv.core;

import io.orbitkv.core.Command.GroupKeys;
import io.orbitkv.core.Command.Query;
import io.orbitkv.core.QueryEvidence.Reach;
import io.orbitkv.core.Reply.Refused;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostEvent.QueryMissed;
import io.orbitkv.state.Keys;
import io.orbitkv.state.identity.Limits;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.recovery.BoundarySet;
import io.orbitkv.state.recovery.GroupRange;
import io.orbitkv.state.recovery.RecoveryDemand;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.agrona.collections.IntArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Queries: looks the keys up, takes the longest legal boundary, leases exactly what it needs and
 * touches those blocks in request order. What is found later than now is the business of {@link
 * TicketDecisions}.
 */
final class QueryDecisions {
  private static final int NO_BOUNDARY = -1;

  private final Host host;
  private final LeaseDecisions leases;
  private final @Nullable TierDecisions tier;
  private @Nullable QueryEvidence scratch;

  QueryDecisions(Host host, LeaseDecisions leases, @Nullable TierDecisions tier) {
    this.host = host;
    this.leases = leases;
    this.tier = tier;
  }

  /** Why a query cannot be looked up, null if it can. */
  @Nullable Refused problem(LiveNamespace namespace, Query query) {
    int start = query.startToken();
    if (start < 0
        || start > Limits.MAX_TOKENS
        || start % namespace.contract.alignmentTokens() != 0) {
      return new Refused(
          RefusalCode.MISALIGNED,
          "startToken %d is not a multiple of %d"
              .formatted(start, namespace.contract.alignmentTokens()));
    }
    if (query.limitToken() < 0) {
      return new Refused(RefusalCode.MISALIGNED, "limitToken is " + query.limitToken());
    }
    List<GroupKeys> groups = query.groups();
    if (groups.size() != namespace.contract.groups().size()) {
      return new Refused(
          RefusalCode.BAD_GROUP,
          "%d groups given, %d registered"
              .formatted(groups.size(), namespace.contract.groups().size()));
    }
    long keys = 0;
    for (int g = 0; g < groups.size(); g++) {
      int groupId = groups.get(g).groupId();
      if (groupId != namespace.group(g).groupId()) {
        return new Refused(
            RefusalCode.BAD_GROUP,
            "group %d given where group %d is due"
                .formatted(groupId, namespace.group(g).groupId()));
      }
      int count = groups.get(g).keys().size();
      keys += count;
      if (start + (long) count * namespace.contract.pageTokens(g) > Limits.MAX_TOKENS) {
        return new Refused(
            RefusalCode.TOO_MANY_KEYS,
            "the pages of group %d end after %d tokens".formatted(groupId, Limits.MAX_TOKENS));
      }
    }
    return keys <= host.config.maxBlocksPerRequest()
        ? null
        : new Refused(
            RefusalCode.TOO_MANY_KEYS,
            "%d keys, at most %d".formatted(keys, host.config.maxBlocksPerRequest()));
  }

  QueryEvidence look(LiveNamespace namespace, Query query) {
    QueryEvidence evidence = scratch;
    if (evidence == null) {
      evidence = new QueryEvidence(host.state, namespace);
      scratch = evidence;
    }
    evidence.look(namespace, query, furthest(query));
    return evidence;
  }

  /** Which blocks the query may have if they are not in DRAM yet. */
  Reach furthest(Query query) {
    return switch (query.mode()) {
      case WAIT, PREPARE -> Reach.COMING;
      case LEASE -> Reach.IN_DRAM;
      case DISCOVER -> tier == null ? Reach.IN_DRAM : Reach.STORED;
    };
  }

  /** Whether the facts of an answer can be promised. */
  boolean hasRoom(Query query) {
    long missing = (long) host.config.journalMissKeys() * Keys.MAX_KEY_BYTES;
    long blocks = 0;
    for (GroupKeys group : query.groups()) {
      blocks += group.keys().size();
    }
    // A read back from SSD adds the blocks that leave DRAM, the read's own columns and its end.
    int facts = tier == null ? 4 : 12;
    long columns = blocks * Host.BLOCK_COLUMN_BYTES * (tier == null ? 1 : 4);
    return host.hasRoom(facts, missing * query.groups().size() + columns);
  }

  void discover(Query query, QueryEvidence evidence) {
    BoundarySet boundaries = evidence.boundaries(furthest(query));
    List<GroupRange> ranges =
        evidence.demand(boundaries.last().orElse(evidence.startToken())).ranges();
    host.reply(
        query.replyTo(),
        new Reply.Discovered(query.startToken(), ranges, evidence.foundBlocks(), boundaries));
  }

  /**
   * Answers with what is sealed now: a lease or a miss.
   *
   * @param ticketId the ticket that ends with it, 0 if none
   * @param expired whether a miss is one because the ticket's time ran out
   */
  Reply answer(
      LiveSession session, Query query, QueryEvidence evidence, long ticketId, boolean expired) {
    BoundarySet boundaries = evidence.boundaries(Reach.IN_DRAM);
    int boundary = boundaries.last().orElse(NO_BOUNDARY);
    if (boundary == NO_BOUNDARY) {
      host.emit(new QueryMissed(session.id, query.request(), answers(evidence, null)));
      return new Reply.Missed(ticketId, query.startToken(), evidence.foundBlocks(), expired);
    }
    RecoveryDemand demand = evidence.demand(boundary);
    long bytes = bytes(session, evidence, demand);
    Refused problem =
        session.leases.size() >= host.config.maxLeasesPerSession()
            ? new Refused(
                RefusalCode.TOO_MANY_LEASES,
                session.leases.size() + " leases of the session are open")
            : leases.budgetProblem(session.instance, bytes);
    if (problem != null) {
      host.noteRefusal(query, problem);
      return problem;
    }
    List<GroupAnswer> answers = answers(evidence, demand);
    LiveLease lease =
        leases.grant(session, query.request(), ticketId, held(evidence, demand), answers, bytes);
    touch(session, query, evidence, demand);
    return new Reply.Ready(
        lease.id,
        ticketId,
        lease.expiresAtMicros,
        query.startToken(),
        boundary,
        demand.ranges(),
        evidence.foundBlocks(),
        underLease(session.namespace(), evidence, boundaries, demand));
  }

  /** Tells how much is in memory, and touches it so that it stays for a while. */
  Reply.Prepared prepared(
      LiveSession session, Query query, QueryEvidence evidence, long ticketId, boolean expired) {
    int boundary = evidence.boundaries(Reach.IN_DRAM).last().orElse(query.startToken());
    touch(session, query, evidence, evidence.demand(boundary));
    return new Reply.Prepared(ticketId, boundary, expired);
  }

  /** Allocated bytes of the session's slices in a demand. */
  long bytes(LiveSession session, QueryEvidence evidence, RecoveryDemand demand) {
    long bytes = 0;
    for (int g = 0; g < evidence.groupCount(); g++) {
      long pages = evidence.pages(g, demand.ranges().get(g));
      bytes += pages * session.namespace().extentBytes(g, session.shard);
    }
    return bytes;
  }

  private static List<GroupLease> held(QueryEvidence evidence, RecoveryDemand demand) {
    if (evidence.groupCount() == 1) {
      return List.of(held(evidence, 0, demand.ranges().getFirst()));
    }
    List<GroupLease> held = new ArrayList<>(evidence.groupCount());
    for (int g = 0; g < evidence.groupCount(); g++) {
      held.add(held(evidence, g, demand.ranges().get(g)));
    }
    return List.copyOf(held);
  }

  private static GroupLease held(QueryEvidence evidence, int g, GroupRange range) {
    return new GroupLease(evidence.groupId(g), range.start(), evidence.blocks(g, range));
  }

  private void touch(
      LiveSession session, Query query, QueryEvidence evidence, RecoveryDemand demand) {
    IntArrayList uncopied = new IntArrayList();
    for (int g = 0; g < evidence.groupCount(); g++) {
      GroupRange range = demand.ranges().get(g);
      int to = evidence.ordinal(g, range.end());
      for (int ordinal = evidence.ordinal(g, range.start()); ordinal < to; ordinal++) {
        int slot = evidence.slot(g, ordinal);
        host.touched(slot);
        if (tier != null && tier.lacksCopy(slot)) {
          uncopied.addInt(slot);
        }
      }
    }
    if (tier != null) {
      tier.used(uncopied, session.id, query.request());
    }
  }

  /** The boundaries whose needed pages all lie in the chosen one's. */
  private static BoundarySet underLease(
      LiveNamespace namespace,
      QueryEvidence evidence,
      BoundarySet boundaries,
      RecoveryDemand chosen) {
    boolean wholeTail = true;
    for (int g = 0; g < evidence.groupCount(); g++) {
      wholeTail &= namespace.group(g).rule() instanceof RecoveryRule.Prefix;
    }
    if (wholeTail) {
      return boundaries;
    }
    int[] kept = new int[boundaries.size()];
    int count = 0;
    for (int i = 0; i < boundaries.size(); i++) {
      RecoveryDemand demand = evidence.demand(boundaries.get(i));
      boolean covered = true;
      for (int g = 0; g < evidence.groupCount(); g++) {
        covered &= demand.ranges().get(g).start() >= chosen.ranges().get(g).start();
      }
      if (covered) {
        kept[count++] = boundaries.get(i);
      }
    }
    return BoundarySet.of(Arrays.copyOf(kept, count));
  }

  /**
   * For each group what the longest asked boundary would have needed, how much of that number is
   * leased, and the first keys that were missing.
   *
   * @param leased the chosen demand, null if there is none
   */
  private List<GroupAnswer> answers(QueryEvidence evidence, @Nullable RecoveryDemand leased) {
    RecoveryDemand wanted = evidence.demand(evidence.endToken());
    if (evidence.groupCount() == 1) {
      return List.of(answer(evidence, 0, wanted, leased));
    }
    List<GroupAnswer> answers = new ArrayList<>(evidence.groupCount());
    for (int g = 0; g < evidence.groupCount(); g++) {
      answers.add(answer(evidence, g, wanted, leased));
    }
    return List.copyOf(answers);
  }

  private GroupAnswer answer(
      QueryEvidence evidence, int g, RecoveryDemand wanted, @Nullable RecoveryDemand leased) {
    GroupRange range = wanted.ranges().get(g);
    int asked = evidence.pages(g, range);
    int hit = leased == null ? 0 : evidence.pages(g, leased.ranges().get(g));
    if (hit == asked) {
      return new GroupAnswer(evidence.groupId(g), asked, hit, Keys.EMPTY, 0);
    }
    Keys missing = missingKeys(evidence, g, range);
    int omitted = Math.max(0, asked - hit - missing.size());
    return new GroupAnswer(evidence.groupId(g), asked, hit, missing, omitted);
  }

  private Keys missingKeys(QueryEvidence evidence, int g, GroupRange range) {
    Keys keys = evidence.keys(g);
    int to = evidence.ordinal(g, range.end());
    int most = Math.min(host.config.journalMissKeys(), to);
    byte[] packed = new byte[most * keys.keyBytes()];
    int count = 0;
    for (int i = evidence.ordinal(g, range.start()); i < to && count < most; i++) {
      if (!evidence.sealedPage(g, i)) {
        System.arraycopy(
            keys.packed(), keys.offset(i), packed, count++ * keys.keyBytes(), keys.keyBytes());
      }
    }
    return Keys.ofPacked(keys.keyBytes(), Arrays.copyOf(packed, count * keys.keyBytes()));
  }
}
