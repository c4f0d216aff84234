package io.orbitkv.core;

import io.orbitkv.core.Command.GroupTarget;
import io.orbitkv.core.Command.Restore;
import io.orbitkv.core.Reply.Refused;
import io.orbitkv.core.copy.GroupLayout;
import io.orbitkv.core.copy.RestoreCopy;
import io.orbitkv.core.copy.RestoreCopy.GroupBlocks;
import io.orbitkv.core.copy.RestoreCopy.Mismatch;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.RestoreFinished;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import io.orbitkv.state.HostEvent.RestoreStarted;
import io.orbitkv.state.HostEvent.VerifyFailed;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.OpenLease;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Restores: leased blocks are copied into an engine's pages. The fact that one started pins the
 * lease's blocks by itself, so whatever becomes of the lease, no byte is reused under a copy. No
 * page may be the target of two restores at once.
 */
final class RestoreDecisions {
  private final Host host;
  private final LeaseDecisions leases;
  private final EvictionDecisions evictions;

  RestoreDecisions(Host host, LeaseDecisions leases, EvictionDecisions evictions) {
    this.host = host;
    this.leases = leases;
    this.evictions = evictions;
  }

  void restore(Restore command) {
    LiveSession session = host.openSession(command);
    if (session == null) {
      return;
    }
    LiveLease lease = leases.find(session, command.leaseId());
    OpenLease held = host.state.lease(command.leaseId());
    if (host.draining) {
      host.refuse(command, RefusalCode.DRAINING, "the daemon is stopping");
    } else if (lease == null || held == null) {
      host.refuse(
          command, RefusalCode.LEASE_GONE, "lease %d is not open".formatted(command.leaseId()));
    } else if (session.buffers == null) {
      host.refuse(command, RefusalCode.NO_BUFFERS, "the session registered no buffers");
    } else {
      Plan plan = new Plan(session, session.buffers, held);
      Refused problem = plan.add(command.targets());
      if (problem == null) {
        problem = roomProblem(plan);
      }
      if (problem == null) {
        begin(command, session, lease, plan);
      } else {
        plan.untarget();
        host.refuse(command, problem);
      }
    }
  }

  private @Nullable Refused roomProblem(Plan plan) {
    if (!host.canCopy(plan.bytes, plan.buffers)) {
      return new Refused(RefusalCode.QUEUE_FULL, host.copies.inFlight() + " copies are in flight");
    }
    return host.hasRoom(5, 0)
        ? null
        : new Refused(RefusalCode.JOURNAL_FULL, "the journal has no room for a restore");
  }

  /** What a restore reads and writes. Pages are marked as targets while it is made. */
  private final class Plan {
    final LiveSession session;
    final SharedBuffers buffers;
    final OpenLease lease;
    final List<GroupBlocks> groups = new ArrayList<>();
    final List<GroupTarget> targeted = new ArrayList<>();
    int blocks;
    long bytes;

    Plan(LiveSession session, SharedBuffers buffers, OpenLease lease) {
      this.session = session;
      this.buffers = buffers;
      this.lease = lease;
    }

    @Nullable Refused add(List<GroupTarget> targets) {
      int previous = -1;
      for (GroupTarget target : targets) {
        int groupIndex = session.namespace().contract.indexOf(target.groupId());
        if (groupIndex < 0 || target.groupId() <= previous) {
          return new Refused(
              RefusalCode.BAD_GROUP, "group %d, after %d".formatted(target.groupId(), previous));
        }
        previous = target.groupId();
        Refused problem = add(target, groupIndex);
        if (problem != null) {
          return problem;
        }
      }
      if (blocks > host.config.maxBlocksPerRequest()) {
        return new Refused(
            RefusalCode.TOO_MANY_KEYS,
            "%d blocks, at most %d".formatted(blocks, host.config.maxBlocksPerRequest()));
      }
      return blocks > 0 ? null : new Refused(RefusalCode.BAD_VALUE, "no block is asked for");
    }

    private @Nullable Refused add(GroupTarget target, int groupIndex) {
      GroupLayout layout = session.layout(target.groupId());
      if (layout == null) {
        return new Refused(
            RefusalCode.NO_BUFFERS,
            "the session has no layers of group %d".formatted(target.groupId()));
      }
      int page = session.namespace().contract.pageTokens(groupIndex);
      GroupLease held = held(target.groupId());
      int count = target.targetBlocks().length;
      if (held == null || target.fromToken() < held.startToken()) {
        return new Refused(
            RefusalCode.RANGE_NOT_LEASED,
            "token %d of group %d".formatted(target.fromToken(), target.groupId()));
      }
      if ((target.fromToken() - held.startToken()) % page != 0) {
        return new Refused(
            RefusalCode.MISALIGNED,
            "token %d is not where a page of %d tokens starts".formatted(target.fromToken(), page));
      }
      int first = (target.fromToken() - held.startToken()) / page;
      if (first > held.blocks().size() - count) {
        return new Refused(
            RefusalCode.RANGE_NOT_LEASED,
            "blocks %d to %d of %d leased of group %d"
                .formatted(first, first + (long) count, held.blocks().size(), target.groupId()));
      }
      Refused problem = mark(target, layout);
      if (problem == null && count > 0) {
        groups.add(blocks(target, layout, held.blocks().slice(first, first + count)));
        blocks += count;
        bytes += count * layout.payloadBytes();
      }
      return problem;
    }

    private @Nullable GroupLease held(int groupId) {
      for (GroupLease held : lease.held()) {
        if (held.groupId() == groupId) {
          return held;
        }
      }
      return null;
    }

    private @Nullable Refused mark(GroupTarget target, GroupLayout layout) {
      BitSet busy = buffers.targeted(target.groupId());
      int[] pages = target.targetBlocks();
      for (int i = 0; i < pages.length; i++) {
        boolean outside = pages[i] < 0 || pages[i] >= layout.blockCount();
        if (outside || busy.get(pages[i])) {
          for (int j = 0; j < i; j++) {
            busy.clear(pages[j]);
          }
          return outside
              ? new Refused(
                  RefusalCode.BLOCK_OUT_OF_RANGE,
                  "target block %d of %d".formatted(pages[i], layout.blockCount()))
              : new Refused(
                  RefusalCode.DUPLICATE_DESTINATION,
                  "block %d of group %d is the target of a restore already"
                      .formatted(pages[i], target.groupId()));
        }
        busy.set(pages[i]);
      }
      targeted.add(target);
      return null;
    }

    private GroupBlocks blocks(GroupTarget target, GroupLayout layout, LongRanges ids) {
      int count = ids.size();
      long[] offsets = new long[count];
      long[] checksums = new long[count];
      long[] blockIds = new long[count];
      int at = 0;
      int slot = -1;
      for (int run = 0; run < ids.runs(); run++) {
        long end = ids.first(run) + ids.count(run);
        for (long id = ids.first(run); id < end; id++, at++) {
          slot = host.state.slotOf(id, slot);
          offsets[at] = host.state.extentOffset(slot, session.shard);
          checksums[at] = host.state.checksum(slot, session.shard);
          blockIds[at] = id;
        }
      }
      return new GroupBlocks(layout, target.targetBlocks(), offsets, checksums, blockIds);
    }

    void untarget() {
      RestoreDecisions.untarget(buffers, targeted);
    }
  }

  private static void untarget(SharedBuffers buffers, List<GroupTarget> targets) {
    for (GroupTarget target : targets) {
      BitSet busy = buffers.targeted(target.groupId());
      for (int page : target.targetBlocks()) {
        busy.clear(page);
      }
    }
  }

  private void begin(Restore command, LiveSession session, LiveLease lease, Plan plan) {
    long id = host.state.nextRestoreId();
    host.emit(new RestoreStarted(id, session.id, lease.id, plan.blocks, plan.bytes));
    RestoreCopy copy =
        new RestoreCopy(
            id,
            plan.buffers.buffers(),
            plan.groups,
            host.pool,
            host.config.verify(),
            command.progress());
    LiveRestore restore =
        new LiveRestore(
            id,
            session,
            lease,
            command,
            plan.buffers,
            plan.blocks,
            host.clock.monotonicMicros(),
            copy);
    host.restores.put(id, restore);
    session.restores.add(restore);
    leases.restoreBegan(lease);
    if (host.copy(copy)) {
      ended(restore);
    }
  }

  /** The copy of a restore has ended, well or not. */
  void ended(LiveRestore restore) {
    RestoreCopy copy = restore.copy();
    Mismatch mismatch = copy.mismatch();
    long micros = host.clock.monotonicMicros() - restore.startedMicros();
    if (mismatch != null) {
      host.emit(
          new VerifyFailed(
              mismatch.blockId(),
              restore.session().shard,
              restore.id(),
              mismatch.expected(),
              mismatch.actual()));
      evictions.dropDamaged(mismatch.blockId());
      finish(restore, RestoreOutcome.VERIFY_FAILED, 0, micros);
      host.reply(
          restore.replyTo(),
          new Reply.Failed(
              RefusalCode.VERIFY_FAILED,
              "block %d has changed since it was published".formatted(mismatch.blockId())));
    } else if (copy.failure() != null) {
      finish(restore, RestoreOutcome.COPY_FAILED, 0, micros);
      host.reply(
          restore.replyTo(),
          new Reply.Failed(RefusalCode.COPY_FAILED, String.valueOf(copy.failure())));
    } else if (copy.cancelled()) {
      finish(restore, RestoreOutcome.CANCELLED, 0, micros);
      host.reply(restore.replyTo(), new Reply.Cancelled(false));
    } else {
      finish(restore, RestoreOutcome.DONE, copy.bytes(), micros);
      host.reply(
          restore.replyTo(),
          new Reply.Restored(restore.id(), restore.blocks(), copy.bytes(), micros));
    }
  }

  private void finish(LiveRestore restore, RestoreOutcome outcome, long bytes, long micros) {
    host.emit(new RestoreFinished(restore.id(), outcome, bytes, micros));
    host.restores.remove(restore.id());
    restore.session().restores.remove(restore);
    untarget(restore.buffers(), restore.command().targets());
    if (restore.command().releaseLease() && restore.lease().open) {
      leases.end(restore.lease(), LeaseEnd.RELEASED);
    }
    leases.restoreEnded(restore.lease());
  }
}
