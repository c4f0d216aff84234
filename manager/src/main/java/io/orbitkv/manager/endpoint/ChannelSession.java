package io.orbitkv.manager.endpoint;

import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.Flags;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.PayloadLimits;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RequestTag;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.client.wire.ServerChannel;
import io.orbitkv.client.wire.Submission;
import io.orbitkv.core.Command;
import io.orbitkv.core.Command.CancelTarget;
import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.Reply;
import io.orbitkv.core.copy.RestoreCopy.LayerProgress;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.Keys;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One session's rings as the loop sees them: takes submissions, turns them into commands, and keeps
 * the requests that are not answered yet. Loop thread, but for {@link #progress}.
 */
final class ChannelSession {
  private final long id;
  private final ChannelMemory memory;
  private final ServerChannel channel;
  private final ChannelPoller poller;
  private final PayloadLimits limits;
  private final int[] groupIds;
  private final int[] layerCounts;
  private final List<RequestSink> open = new ArrayList<>();

  /** Whether the poller looks at it in every cycle. */
  boolean hot;

  /** Whether it is in the poller's list of sessions to signal. */
  boolean dirty;

  private boolean blocked;
  private boolean ending;
  private int badPayloadsInARow;

  /**
   * @param groupIds the registered groups, ascending
   * @param layerCounts how many layers this session registered of each group
   */
  ChannelSession(
      long id,
      long epoch,
      ChannelMemory memory,
      ChannelPoller poller,
      PayloadLimits limits,
      int[] groupIds,
      int[] layerCounts) {
    this.id = id;
    this.memory = memory;
    this.poller = poller;
    this.limits = limits;
    this.groupIds = groupIds;
    this.layerCounts = layerCounts;
    memory.geometry().writeHeader(memory.memory(), epoch, id);
    this.channel =
        new ServerChannel(memory.memory(), memory.geometry(), epoch, id, poller.scratch());
  }

  long id() {
    return id;
  }

  ChannelMemory memory() {
    return memory;
  }

  ServerChannel channel() {
    return channel;
  }

  int[] groupIds() {
    return groupIds;
  }

  long wallMicros() {
    return poller.wallMicros();
  }

  /** Takes at most {@code limit} submissions; returns how many it took, refused ones included. */
  int poll(Consumer<Command> loop, int limit) {
    if (memory.heldUp() && !ending) {
      violation(loop, "the eventfd that wakes the client was filled by it");
      return 1;
    }
    int taken = 0;
    while (taken < limit && !ending) {
      switch (channel.take()) {
        case NOTHING -> {
          blocked = channel.hasNext();
          return taken;
        }
        case REQUEST -> {
          taken++;
          request(loop);
        }
        case REFUSED -> {
          taken++;
          poller.metrics().descriptorRefused(channel.refusal().category());
          touched();
        }
        case BROKEN -> {
          violation(loop, channel.brokenReason());
          return taken + 1;
        }
      }
    }
    return taken;
  }

  /** Whether there is something to take that its client is not holding up itself. */
  boolean somethingToTake() {
    return !ending && (memory.heldUp() || (!blocked && channel.hasNext()));
  }

  /** Whether its client has to read answers before more is taken. */
  boolean blocked() {
    return blocked && !ending;
  }

  /** Something was written for the client. */
  void touched() {
    poller.dirty(this);
  }

  /** Signals the client if anything was written since the last time. */
  void signalIfDue() throws NativeException {
    if (channel.takeSignalDue()) {
      memory.signalClient();
      if (memory.heldUp()) {
        poller.rang(this);
      }
    }
  }

  /** The last answer of a request was written. */
  void answered(RequestSink sink, long takenNanos, Reply reply) {
    RequestSink last = open.removeLast();
    if (last != sink) {
      open.set(sink.openIndex, last);
      last.openIndex = sink.openIndex;
    }
    poller.metrics().answered(sink.tag().op(), reply, System.nanoTime() - takenNanos);
    blocked = false;
    touched();
    poller.rang(this);
  }

  /** Nothing is taken any more; answers go on. */
  void end() {
    ending = true;
  }

  // ---- one request -----------------------------------------------------------------------------

  private void request(Consumer<Command> loop) {
    RequestTag tag = channel.tag();
    Submission submission = channel.submission();
    switch (tag.op()) {
      case PING -> {
        channel.ok(tag, System.nanoTime(), 0);
        touched();
      }
      case QUERY -> query(tag, submission, mode(submission.flags()), loop);
      case PREPARE -> query(tag, submission, QueryMode.PREPARE, loop);
      case PUBLISH -> publish(tag, loop);
      case RESTORE -> restore(tag, submission, loop);
      case POLL -> loop.accept(new Command.Poll(id, "", submission.handle(), sink(tag)));
      case CANCEL -> cancel(tag, submission, loop);
      case RELEASE -> loop.accept(new Command.Release(id, "", submission.handle(), sink(tag)));
    }
  }

  private static QueryMode mode(int flags) {
    if ((flags & Flags.QUERY_WAIT) != 0) {
      return QueryMode.WAIT;
    }
    return (flags & Flags.QUERY_DISCOVER) != 0 ? QueryMode.DISCOVER : QueryMode.LEASE;
  }

  private void query(
      RequestTag tag, Submission submission, QueryMode mode, Consumer<Command> loop) {
    switch (QueryRequest.decode(channel.sharedPayload(), channel.payloadBytes(), limits)) {
      case Decoded.Bad<QueryRequest>(Refusal refusal) -> malformed(tag, refusal, loop);
      case Decoded.Good<QueryRequest>(QueryRequest query) -> {
        badPayloadsInARow = 0;
        boolean kept = tag.op().mayWait(submission.flags());
        List<Command.GroupKeys> groups = new ArrayList<>(query.groups().size());
        for (QueryRequest.GroupKeys group : query.groups()) {
          // A query that may wait is kept; another is over when the loop has taken it.
          Keys keys = view(group.keys());
          groups.add(new Command.GroupKeys(group.groupId(), kept ? keys.copy() : keys));
        }
        loop.accept(
            new Command.Query(
                id,
                query.request(),
                query.startToken(),
                query.limitToken(),
                groups,
                mode,
                submission.timeoutMillis(),
                (submission.flags() & Flags.QUERY_REPLACE) != 0,
                sink(tag)));
      }
    }
  }

  private void publish(RequestTag tag, Consumer<Command> loop) {
    switch (PublishRequest.decode(channel.sharedPayload(), channel.payloadBytes(), limits)) {
      case Decoded.Bad<PublishRequest>(Refusal refusal) -> malformed(tag, refusal, loop);
      case Decoded.Good<PublishRequest>(PublishRequest publish) -> {
        badPayloadsInARow = 0;
        loop.accept(
            new Command.Publish(
                id,
                publish.request(),
                publish.groupId(),
                view(publish.keys()).copy(),
                publish.sourceBlocks().toArray(),
                sink(tag)));
      }
    }
  }

  private void restore(RequestTag tag, Submission submission, Consumer<Command> loop) {
    switch (RestoreRequest.decode(channel.sharedPayload(), channel.payloadBytes(), limits)) {
      case Decoded.Bad<RestoreRequest>(Refusal refusal) -> malformed(tag, refusal, loop);
      case Decoded.Good<RestoreRequest>(RestoreRequest restore) -> {
        badPayloadsInARow = 0;
        int flags = submission.flags();
        int layers = 0;
        List<Command.GroupTarget> targets = new ArrayList<>(restore.groups().size());
        for (RestoreRequest.GroupPages target : restore.groups()) {
          targets.add(
              new Command.GroupTarget(
                  target.groupId(), target.fromToken(), target.destinationBlocks().toArray()));
          layers += layersOf(target.groupId());
        }
        LayerProgress progress = null;
        if ((flags & Flags.RESTORE_PROGRESS) != 0) {
          channel.startProgress(tag, layers);
          progress = done -> progress(tag, done);
        }
        loop.accept(
            new Command.Restore(
                id,
                restore.request(),
                submission.handle(),
                targets,
                (flags & Flags.RESTORE_RELEASE) != 0,
                progress,
                sink(tag)));
      }
    }
  }

  private void cancel(RequestTag tag, Submission submission, Consumer<Command> loop) {
    CancelTarget target;
    if ((submission.flags() & Flags.CANCEL_BY_REQUEST) == 0) {
      target = new CancelTarget.Ticket(submission.handle());
    } else {
      RequestSink sink = openRequest(submission.handle());
      if (sink == null) {
        channel.ok(tag, 0, 0);
        touched();
        return;
      }
      target = new CancelTarget.AnsweredTo(sink);
    }
    loop.accept(new Command.Cancel(id, "", target, sink(tag)));
  }

  /** From whichever thread copied the layer: the wait for it is worth a signal of its own. */
  private void progress(RequestTag tag, int layersDone) {
    channel.progress(tag, layersDone);
    try {
      memory.signalClient();
    } catch (NativeException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  private void malformed(RequestTag tag, Refusal refusal, Consumer<Command> loop) {
    poller.metrics().descriptorRefused(refusal.category());
    channel.refuse(tag, refusal);
    touched();
    if (++badPayloadsInARow > ServerChannel.MAX_REFUSALS_IN_A_ROW) {
      violation(loop, badPayloadsInARow + " malformed payloads in a row: " + refusal.message());
    }
  }

  private void violation(Consumer<Command> loop, String why) {
    ending = true;
    poller.violation(this, why);
    loop.accept(new Command.CloseSession(id, SessionEnd.PROTOCOL_VIOLATION, _ -> {}));
  }

  private RequestSink sink(RequestTag tag) {
    RequestSink sink = new RequestSink(this, tag, System.nanoTime());
    sink.openIndex = open.size();
    open.add(sink);
    return sink;
  }

  private @Nullable RequestSink openRequest(long requestId) {
    for (RequestSink sink : open) {
      if (sink.tag().requestId() == requestId) {
        return sink;
      }
    }
    return null;
  }

  private int layersOf(int groupId) {
    int at = Arrays.binarySearch(groupIds, groupId);
    return at < 0 ? 0 : layerCounts[at];
  }

  /** Keys in the payload that was taken last. */
  private static Keys view(KeyRun run) {
    return run.count() == 0
        ? Keys.EMPTY
        : Keys.view(run.keyBytes(), run.packed(), run.offset(), run.count());
  }
}
