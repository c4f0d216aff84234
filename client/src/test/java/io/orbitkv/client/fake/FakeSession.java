package io.orbitkv.client.fake;

import io.orbitkv.client.control.Register;
import io.orbitkv.client.control.Register.Group;
import io.orbitkv.client.control.Register.Layer;
import io.orbitkv.client.wire.BlockOutcome;
import io.orbitkv.client.wire.ChannelGeometry;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.Flags;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.Op;
import io.orbitkv.client.wire.PayloadLimits;
import io.orbitkv.client.wire.PublishReply;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryAnswer;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.client.wire.RequestTag;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.client.wire.ServerChannel;
import io.orbitkv.client.wire.Status;
import io.orbitkv.client.wire.Submission;
import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.Memfd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.Seal;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One session of the fake Manager: its channel and what it answers there. */
final class FakeSession implements AutoCloseable {
  /** A pending query. */
  static final class FakeTicket {
    final long id;
    final Op op;
    final List<RequestTag> askers = new ArrayList<>();
    final QueryRequest query;
    final long deadlineNanos;
    int polls;
    boolean decided;
    @Nullable RefusalCode reason;
    Status status = Status.LOADING;
    @Nullable QueryAnswer answer;

    FakeTicket(long id, RequestTag asker, QueryRequest query, long deadlineNanos) {
      this.id = id;
      this.op = asker.op();
      this.askers.add(asker);
      this.query = query;
      this.deadlineNanos = deadlineNanos;
    }
  }

  final long sessionId;
  final long instanceId;
  final Register register;
  final FakeCache.Namespace namespace;
  final FakeBuffers buffers;
  final boolean ownsBuffers;
  final Memfd memfd;
  final EventFd doorbell;
  final EventFd signal;
  final ServerChannel channel;
  final Map<Long, FakeTicket> tickets = new HashMap<>();
  private final FakeManager manager;
  private final Mapping memory;

  FakeSession(
      FakeManager manager,
      long sessionId,
      long instanceId,
      Register register,
      FakeCache.Namespace namespace,
      FakeBuffers buffers,
      boolean ownsBuffers)
      throws NativeException {
    this.manager = manager;
    this.sessionId = sessionId;
    this.instanceId = instanceId;
    this.register = register;
    this.namespace = namespace;
    this.buffers = buffers;
    this.ownsBuffers = ownsBuffers;
    ChannelGeometry geometry = ChannelGeometry.STANDARD;
    memfd = Memfd.create("fake-channel", geometry.bytes());
    memfd.addSeals(EnumSet.of(Seal.SHRINK, Seal.GROW, Seal.SEAL));
    memory = Mapping.shared(memfd.descriptor(), 0, geometry.bytes(), MapOptions.READ_WRITE);
    doorbell = EventFd.create();
    signal = EventFd.create();
    geometry.writeHeader(memory.segment(), manager.epoch(), sessionId);
    channel = new ServerChannel(memory.segment(), geometry, manager.epoch(), sessionId);
  }

  int openTickets() {
    return (int) tickets.values().stream().filter(ticket -> !ticket.decided).count();
  }

  /**
   * Serves what is in the ring.
   *
   * @return whether the session may go on
   */
  boolean serve() throws NativeException {
    boolean going = true;
    while (true) {
      ServerChannel.Taken taken = channel.take();
      if (taken == ServerChannel.Taken.NOTHING) {
        break;
      }
      if (taken == ServerChannel.Taken.BROKEN) {
        going = false;
        break;
      }
      if (taken == ServerChannel.Taken.REQUEST) {
        serve(channel.tag(), channel.submission(), channel.payload());
      }
    }
    signalIfDue();
    return going;
  }

  /** Decides tickets whose blocks are there or whose time is over. */
  void decideTickets(long now) throws NativeException {
    for (FakeTicket ticket : List.copyOf(tickets.values())) {
      if (ticket.decided) {
        continue;
      }
      int sealed = manager.cache.boundary(namespace, ticket.query, false);
      boolean waits = manager.cache.boundary(namespace, ticket.query, true) > sealed;
      if (ticket.op == Op.PREPARE && (!waits || now >= ticket.deadlineNanos)) {
        QueryAnswer found = manager.cache.find(namespace, ticket.query, true).answer();
        decide(ticket, Status.OK, waits ? RefusalCode.TICKET_EXPIRED : null, found);
      } else if (!waits || now >= ticket.deadlineNanos) {
        QueryAnswer answer = answer(ticket.query, false);
        boolean ready = answer.boundaryToken() > answer.startToken();
        RefusalCode reason = ready || !waits ? null : RefusalCode.TICKET_EXPIRED;
        decide(ticket, ready ? Status.READY : Status.MISS, reason, answer);
      }
    }
    signalIfDue();
  }

  @Override
  public void close() {
    if (ownsBuffers) {
      buffers.close();
    }
    memory.close();
    memfd.close();
    doorbell.close();
    signal.close();
  }

  private void signalIfDue() throws NativeException {
    if (channel.takeSignalDue()) {
      signal.signal();
    }
  }

  private void serve(RequestTag tag, Submission submission, byte[] payload) throws NativeException {
    switch (tag.op()) {
      case PING -> channel.ok(tag, System.nanoTime(), 0);
      case QUERY, PREPARE -> {
        switch (QueryRequest.decode(payload, PayloadLimits.STANDARD)) {
          case Decoded.Bad<QueryRequest>(Refusal refusal) -> channel.refuse(tag, refusal);
          case Decoded.Good<QueryRequest>(QueryRequest query) -> query(tag, submission, query);
        }
      }
      case POLL -> poll(tag, submission.handle());
      case CANCEL -> cancel(tag, submission);
      case PUBLISH -> {
        switch (PublishRequest.decode(payload, PayloadLimits.STANDARD)) {
          case Decoded.Bad<PublishRequest>(Refusal refusal) -> channel.refuse(tag, refusal);
          case Decoded.Good<PublishRequest>(PublishRequest publish) -> publish(tag, publish);
        }
      }
      case RESTORE -> {
        switch (RestoreRequest.decode(payload, PayloadLimits.STANDARD)) {
          case Decoded.Bad<RestoreRequest>(Refusal refusal) -> channel.refuse(tag, refusal);
          case Decoded.Good<RestoreRequest>(RestoreRequest restore) ->
              restore(tag, submission, restore);
        }
      }
      case RELEASE -> channel.ok(tag, manager.release(submission.handle(), instanceId) ? 1 : 0, 0);
    }
  }

  private void query(RequestTag tag, Submission submission, QueryRequest query) {
    List<Group> groups = namespace.groups();
    boolean same = groups.size() == query.groups().size();
    for (int g = 0; same && g < groups.size(); g++) {
      same = groups.get(g).groupId() == query.groups().get(g).groupId();
    }
    if (!same) {
      channel.refuse(tag, Refusal.of(RefusalCode.BAD_GROUP, "not the registered groups"));
      return;
    }
    if (query.startToken() % FakeCache.alignment(groups) != 0) {
      channel.refuse(tag, Refusal.of(RefusalCode.MISALIGNED, "startToken"));
      return;
    }
    boolean discover = (submission.flags() & Flags.QUERY_DISCOVER) != 0;
    int sealed = manager.cache.boundary(namespace, query, false);
    if (tag.op().mayWait(submission.flags())) {
      if (findAgain(tag, submission, query)) {
        return;
      }
      if (manager.cache.boundary(namespace, query, true) > sealed) {
        open(tag, submission, query);
        return;
      }
    }
    if (tag.op() == Op.PREPARE) {
      channel.prepared(tag, sealed, false);
      return;
    }
    QueryAnswer answer = answer(query, discover);
    if (answer.boundaryToken() > answer.startToken()) {
      channel.ready(tag, answer);
    } else {
      channel.miss(tag, answer, null);
    }
  }

  /** Whether a pending ticket of that name decides what becomes of the request. */
  private boolean findAgain(RequestTag tag, Submission submission, QueryRequest query) {
    for (FakeTicket old : List.copyOf(tickets.values())) {
      boolean sameName = old.query.request().equals(query.request());
      if (old.decided || old.op != tag.op() || !sameName || query.request().isEmpty()) {
        continue;
      }
      if ((submission.flags() & Flags.QUERY_REPLACE) != 0) {
        decide(old, Status.CANCELLED, RefusalCode.TICKET_REPLACED, null);
        return false;
      }
      if (old.query.equals(query)) {
        old.askers.add(tag);
        channel.loading(tag, old.id);
      } else {
        channel.refuse(tag, Refusal.of(RefusalCode.TICKET_PENDING, "ticket " + old.id));
      }
      return true;
    }
    return false;
  }

  private void open(RequestTag tag, Submission submission, QueryRequest query) {
    if (openTickets() >= 128) {
      channel.refuse(tag, Refusal.of(RefusalCode.TOO_MANY_TICKETS, "128 tickets"));
      return;
    }
    long millis = submission.timeoutMillis() == 0 ? 10_000 : submission.timeoutMillis();
    long deadline = System.nanoTime() + millis * 1_000_000L;
    FakeTicket ticket = new FakeTicket(manager.nextId(), tag, query, deadline);
    tickets.put(ticket.id, ticket);
    channel.loading(tag, ticket.id);
  }

  private void decide(
      FakeTicket ticket,
      Status status,
      @Nullable RefusalCode reason,
      @Nullable QueryAnswer answer) {
    ticket.decided = true;
    ticket.status = status;
    ticket.reason = reason;
    ticket.answer = answer;
    ticket.polls = ticket.askers.size();
    int boundary = answer == null ? 0 : answer.boundaryToken();
    ticket.askers.forEach(asker -> channel.notice(asker, status, ticket.id, reason, boundary));
    if (ticket.op == Op.PREPARE) {
      tickets.remove(ticket.id);
    }
  }

  private QueryAnswer answer(QueryRequest query, boolean discover) {
    FakeCache.Found found = manager.cache.find(namespace, query, discover);
    QueryAnswer answer = found.answer();
    if (discover || answer.boundaryToken() == answer.startToken()) {
      return answer;
    }
    long leaseId = manager.lease(this, found);
    return new QueryAnswer(
        leaseId,
        manager.leaseMillis(),
        answer.startToken(),
        answer.boundaryToken(),
        answer.groups(),
        answer.boundaries());
  }

  private void poll(RequestTag tag, long ticketId) {
    FakeTicket ticket = tickets.get(ticketId);
    if (ticket == null) {
      channel.refuse(tag, Refusal.of(RefusalCode.TICKET_GONE, "no ticket " + ticketId));
      return;
    }
    if (!ticket.decided) {
      channel.stillLoading(tag, ticketId);
      return;
    }
    if (--ticket.polls == 0) {
      tickets.remove(ticketId);
    }
    QueryAnswer answer = ticket.answer;
    if (answer == null) {
      channel.cancelled(tag);
    } else if (ticket.status == Status.READY) {
      channel.ready(tag, answer);
    } else {
      channel.miss(tag, answer, ticket.reason);
    }
  }

  private void cancel(RequestTag tag, Submission submission) {
    boolean byRequest = (submission.flags() & Flags.CANCEL_BY_REQUEST) != 0;
    for (FakeTicket ticket : List.copyOf(tickets.values())) {
      boolean meant =
          byRequest
              ? ticket.askers.stream().anyMatch(a -> a.requestId() == submission.handle())
              : ticket.id == submission.handle();
      if (!ticket.decided && meant) {
        decide(ticket, Status.CANCELLED, null, null);
        channel.ok(tag, 1, 0);
        return;
      }
    }
    channel.ok(tag, 0, 0);
  }

  private void publish(RequestTag tag, PublishRequest publish) {
    Group group = group(publish.groupId());
    if (group == null) {
      channel.refuse(tag, Refusal.of(RefusalCode.BAD_GROUP, "no group " + publish.groupId()));
      return;
    }
    Refusal problem = blocks(publish.groupId(), publish.sourceBlocks());
    if (problem != null) {
      channel.refuse(tag, problem);
      return;
    }
    BlockOutcome[] outcomes = new BlockOutcome[publish.keys().count()];
    long bytes = 0;
    for (int i = 0; i < outcomes.length; i++) {
      FakeCache.Block block = manager.cache.block(namespace, group, publish.keys(), i);
      if (block.slice(register.shard()) != null) {
        outcomes[i] = BlockOutcome.ALREADY;
        continue;
      }
      byte[] slice = buffers.gather(group.groupId(), publish.sourceBlocks().get(i));
      block.store(register.shard(), slice);
      outcomes[i] = BlockOutcome.STORED;
      bytes += slice.length;
    }
    channel.published(tag, PublishReply.of(outcomes), bytes, null);
  }

  private void restore(RequestTag tag, Submission submission, RestoreRequest restore)
      throws NativeException {
    FakeManager.FakeLease lease = manager.leases.get(submission.handle());
    if (lease == null || lease.instanceId() != instanceId) {
      channel.refuse(tag, Refusal.of(RefusalCode.LEASE_GONE, "lease " + submission.handle()));
      return;
    }
    Refusal problem = check(lease, restore);
    if (problem != null) {
      channel.refuse(tag, problem);
      return;
    }
    boolean progress = (submission.flags() & Flags.RESTORE_PROGRESS) != 0;
    List<Integer> ids = restore.groups().stream().map(RestoreRequest.GroupPages::groupId).toList();
    List<Layer> layers = buffers.layers(ids);
    if (progress) {
      channel.startProgress(tag, layers.size());
    }
    long bytes = 0;
    int done = 0;
    for (Layer layer : layers) {
      RestoreRequest.GroupPages pages = restore.groups().get(ids.indexOf(layer.groupId()));
      List<FakeCache.Block> blocks = lease.blocks(layer.groupId(), pages.fromToken());
      for (int i = 0; i < pages.destinationBlocks().size(); i++) {
        byte[] slice = blocks.get(i).slice(register.shard());
        if (slice == null) {
          throw new IllegalStateException("a leased block is not sealed");
        }
        buffers.scatter(layer, pages.destinationBlocks().get(i), slice);
        bytes += layer.sliceBytes();
      }
      if (progress) {
        channel.progress(tag, ++done);
        signalIfDue();
      }
    }
    if ((submission.flags() & Flags.RESTORE_RELEASE) != 0) {
      var _ = manager.release(submission.handle(), instanceId);
    }
    channel.ok(tag, bytes, 0);
  }

  private @Nullable Refusal check(FakeManager.FakeLease lease, RestoreRequest restore) {
    for (RestoreRequest.GroupPages pages : restore.groups()) {
      Group group = group(pages.groupId());
      if (group == null) {
        return Refusal.of(RefusalCode.BAD_GROUP, "no group " + pages.groupId());
      }
      Refusal problem = blocks(pages.groupId(), pages.destinationBlocks());
      if (problem != null) {
        return problem;
      }
      Set<Integer> seen = new HashSet<>();
      for (int i = 0; i < pages.destinationBlocks().size(); i++) {
        if (!seen.add(pages.destinationBlocks().get(i))) {
          return Refusal.of(RefusalCode.DUPLICATE_DESTINATION, "a block twice");
        }
      }
      int from = lease.from(pages.groupId());
      if ((pages.fromToken() - from) % group.pageTokens() != 0) {
        return Refusal.of(RefusalCode.MISALIGNED, "fromToken " + pages.fromToken());
      }
      List<FakeCache.Block> blocks =
          pages.fromToken() < from
              ? new ArrayList<>()
              : lease.blocks(pages.groupId(), pages.fromToken());
      if (blocks.size() < pages.destinationBlocks().size()) {
        return Refusal.of(RefusalCode.RANGE_NOT_LEASED, "from token " + pages.fromToken());
      }
    }
    return null;
  }

  private @Nullable Refusal blocks(int groupId, IntRun indices) {
    int count = buffers.blockCount(groupId);
    if (count == 0) {
      return Refusal.of(RefusalCode.NO_BUFFERS, "group " + groupId + " has no layers here");
    }
    for (int i = 0; i < indices.size(); i++) {
      if (indices.get(i) >= count) {
        return Refusal.of(
            RefusalCode.BLOCK_OUT_OF_RANGE, indices.get(i) + " of " + count + " blocks");
      }
    }
    return null;
  }

  private @Nullable Group group(int groupId) {
    for (Group group : namespace.groups()) {
      if (group.groupId() == groupId) {
        return group;
      }
    }
    return null;
  }
}
