package io.orbitkv.core;

import io.orbitkv.core.Command.Publish;
import io.orbitkv.core.Reply.PublishOutcome;
import io.orbitkv.core.Reply.Refused;
import io.orbitkv.core.copy.GroupLayout;
import io.orbitkv.core.copy.PublishCopy;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.state.HostEvent.AbortReason;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.PublishAborted;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.SlicesPublished;
import io.orbitkv.state.HostEvent.SlicesReserved;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import java.util.Arrays;
import org.agrona.collections.IntArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Publishes: memory is set aside (fact), bytes are copied in, and only then the blocks can be found
 * (fact). A group that every shard holds alike is stored once, by whichever shard comes first.
 */
final class PublishDecisions {
  private final Host host;
  private final EvictionDecisions evictions;
  private final TicketBook tickets;
  private final @Nullable TierDecisions tier;

  PublishDecisions(
      Host host, EvictionDecisions evictions, TicketBook tickets, @Nullable TierDecisions tier) {
    this.host = host;
    this.evictions = evictions;
    this.tickets = tickets;
    this.tier = tier;
  }

  void publish(Publish command) {
    LiveSession session = host.openSession(command);
    if (session == null) {
      return;
    }
    int groupIndex = session.namespace().contract.indexOf(command.groupId());
    GroupLayout layout = groupIndex < 0 ? null : session.layout(command.groupId());
    Refused problem = problem(command, session, groupIndex, layout);
    if (problem != null) {
      host.refuse(command, problem);
    } else if (layout != null) {
      plan(command, session, groupIndex, layout);
    }
  }

  private @Nullable Refused problem(
      Publish command, LiveSession session, int groupIndex, @Nullable GroupLayout layout) {
    int blocks = command.keys().size();
    if (host.draining) {
      return new Refused(RefusalCode.DRAINING, "the daemon is stopping");
    }
    if (groupIndex < 0) {
      return new Refused(
          RefusalCode.BAD_GROUP, "group %d is not registered".formatted(command.groupId()));
    }
    if (layout == null) {
      return new Refused(
          RefusalCode.NO_BUFFERS,
          "the session has no layers of group %d".formatted(command.groupId()));
    }
    if (blocks != command.sourceBlocks().length || blocks == 0) {
      return new Refused(
          RefusalCode.BAD_VALUE,
          "%d keys and %d source blocks".formatted(blocks, command.sourceBlocks().length));
    }
    if (blocks > host.config.maxBlocksPerRequest()) {
      return new Refused(
          RefusalCode.TOO_MANY_KEYS,
          "%d keys, at most %d".formatted(blocks, host.config.maxBlocksPerRequest()));
    }
    for (int source : command.sourceBlocks()) {
      if (source < 0 || source >= layout.blockCount()) {
        return new Refused(
            RefusalCode.BLOCK_OUT_OF_RANGE,
            "source block %d of %d".formatted(source, layout.blockCount()));
      }
    }
    if (!host.canCopy(blocks * layout.payloadBytes(), session.buffers)) {
      return new Refused(RefusalCode.QUEUE_FULL, host.copies.inFlight() + " copies are in flight");
    }
    long columns = blocks * (long) (command.keys().keyBytes() + Host.BLOCK_COLUMN_BYTES);
    if (tier != null) {
      columns += blocks * (long) Host.BLOCK_COLUMN_BYTES;
    }
    return host.hasRoom(tier == null ? 6 : 10, columns)
        ? null
        : new Refused(RefusalCode.JOURNAL_FULL, "the journal has no room for a publish");
  }

  private void plan(Publish command, LiveSession session, int groupIndex, GroupLayout layout) {
    int extentBytes = ExtentAllocator.allocatedBytes(layout.extentBytes(), host.granuleBytes());
    PublishPlan plan =
        new PublishPlan(
            host, session.namespace(), groupIndex, session.shard, command.keys(), extentBytes);
    plan.decide();
    boolean evicted = false;
    do {
      if (plan.needsVictims()) {
        evicted = true;
        evictions.giveUp(plan.takeVictims(), EvictionCause.CAPACITY, session.id, command.request());
      }
    } while (!plan.allocate());
    if (plan.stored() == 0) {
      host.reply(command.replyTo(), nothingStored(command, plan.outcomes(), evicted));
    } else {
      begin(command, session, groupIndex, layout, plan, extentBytes);
    }
  }

  private void begin(
      Publish command,
      LiveSession session,
      int groupIndex,
      GroupLayout layout,
      PublishPlan plan,
      int extentBytes) {
    SharedBuffers buffers = session.buffers;
    if (buffers == null) {
      throw new IllegalStateException("session " + session.id + " has a layout but no buffers");
    }
    int count = plan.stored();
    int[] sources = new int[count];
    long[] offsets = new long[count];
    long[] generations = new long[count];
    for (int i = 0; i < count; i++) {
      sources[i] = command.sourceBlocks()[plan.ordinal(i)];
      offsets[i] = plan.extent(i).offset();
      generations[i] = plan.extent(i).generation();
    }
    long id = host.state.nextPublishId();
    long firstNew = host.state.nextBlockId();
    LongRanges blocks = plan.numberBlocks(firstNew);
    host.emit(
        new SlicesReserved(
            id,
            session.id,
            command.request(),
            command.groupId(),
            session.shard,
            blocks,
            firstNew,
            plan.newKeys(),
            Longs.of(offsets.clone()),
            Longs.of(generations),
            extentBytes));
    if (session.namespace().needsSeveralSlices(groupIndex)) {
      evictions.watchUnsealed(blocks);
    }
    PublishCopy copy = new PublishCopy(id, buffers.buffers(), layout, sources, offsets, host.pool);
    LivePublish publish =
        new LivePublish(id, session, command, plan.blockIds(), plan.outcomes(), copy);
    host.publishes.put(id, publish);
    session.publishes.add(publish);
    host.blocksInCopy += count;
    if (host.copy(copy)) {
      ended(publish);
    }
  }

  /** The copy of a publish has ended, well or not. */
  void ended(LivePublish publish) {
    PublishCopy copy = publish.copy();
    host.publishes.remove(publish.id());
    publish.session().publishes.remove(publish);
    host.blocksInCopy -= copy.checksums().length;
    if (copy.failure() != null) {
      abort(publish, AbortReason.COPY_FAILED);
      host.reply(
          publish.replyTo(),
          new Reply.Failed(RefusalCode.COPY_FAILED, String.valueOf(copy.failure())));
    } else if (copy.cancelled()) {
      boolean sessionGone =
          publish.session().ending == SessionEnd.DISCONNECTED
              || publish.session().ending == SessionEnd.PROTOCOL_VIOLATION;
      abort(publish, sessionGone ? AbortReason.SESSION_CLOSED : AbortReason.CANCELLED);
      host.reply(publish.replyTo(), new Reply.Cancelled(false));
    } else {
      seal(publish);
    }
  }

  private void abort(LivePublish publish, AbortReason reason) {
    host.emit(new PublishAborted(publish.id(), reason));
    for (int i = 0; i < publish.blockIds().length; i++) {
      if (publish.stored(i) && host.state.slotOf(publish.blockIds()[i]) < 0) {
        tickets.settled(publish.blockIds()[i]);
      }
    }
  }

  private void seal(LivePublish publish) {
    long[] checksums = publish.copy().checksums();
    host.emit(new SlicesPublished(publish.id(), Longs.of(checksums)));
    IntArrayList fresh = new IntArrayList();
    int slot = -1;
    for (int i = 0; i < publish.blockIds().length; i++) {
      if (publish.blockIds()[i] == 0) {
        continue;
      }
      slot = host.state.slotOf(publish.blockIds()[i], slot);
      if (slot < 0 || !host.state.sealed(slot)) {
        continue;
      }
      if (publish.stored(i)) {
        host.policy.entered(slot, host.keyHash(slot));
        tickets.settled(publish.blockIds()[i]);
        if (tier != null) {
          fresh.addInt(slot);
        }
      } else {
        host.touched(slot);
      }
    }
    if (tier != null) {
      tier.sealed(fresh, publish.session().id, publish.command().request());
      touchOnSsd(publish);
    }
    host.reply(
        publish.replyTo(),
        published(publish.command(), publish.outcomes(), publish.copy().bytes()));
  }

  /** What was there before and what is new stand on SSD in request order too. */
  private void touchOnSsd(LivePublish publish) {
    int slot = -1;
    for (long blockId : publish.blockIds()) {
      if (blockId != 0) {
        slot = host.state.slotOf(blockId, slot);
        if (slot >= 0 && host.tier != null) {
          host.tier.policy.touched(slot);
        }
      }
    }
  }

  /** A refusal only if nothing changed: room that lies in pieces is found out by evicting. */
  private Reply nothingStored(Publish command, byte[] outcomes, boolean evicted) {
    Reply.Published published = published(command, outcomes, 0);
    Refused why = published.why();
    return why != null && published.refused() == outcomes.length && !evicted ? why : published;
  }

  private Reply.Published published(Publish command, byte[] outcomes, long bytes) {
    int[] counts = new int[PublishOutcome.values().length];
    for (byte outcome : outcomes) {
      counts[outcome]++;
    }
    int refused = counts[PublishOutcome.REFUSED.code()];
    Refused why = null;
    if (refused > 0) {
      why =
          new Refused(
              RefusalCode.POOL_FULL,
              "no room for %d of %d blocks, and nothing to evict"
                  .formatted(refused, outcomes.length));
      host.noteRefusal(command, why);
    }
    return new Reply.Published(
        counts[PublishOutcome.STORED.code()],
        counts[PublishOutcome.ALREADY.code()],
        counts[PublishOutcome.ELSEWHERE.code()],
        refused,
        bytes,
        Arrays.copyOf(outcomes, outcomes.length),
        why);
  }
}
