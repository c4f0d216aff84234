package io.orbitkv.manager.cluster;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.inventory.Candidate;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.membership.MemberRecord;
import io.orbitkv.catalog.peer.GrantAnswer;
import io.orbitkv.catalog.peer.GrantRequest;
import io.orbitkv.catalog.peer.PeerAnswer;
import io.orbitkv.catalog.peer.PeerClient;
import io.orbitkv.core.remote.RemoteRead;
import io.orbitkv.state.HostEvent.RemoteFailure;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.transfer.Grant;
import io.orbitkv.transfer.PeerEndpoint;
import io.orbitkv.transfer.PoolRange;
import io.orbitkv.transfer.RangeRead;
import io.orbitkv.transfer.ReadOutcome;
import io.orbitkv.transfer.Receipt;
import io.orbitkv.transfer.Secret;
import io.orbitkv.transfer.TransferFailure;
import io.orbitkv.transfer.TransferRead;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One read of another host's blocks: ask the owner for a grant, read under it, check the sums, give
 * the grant back. It ends once, by its deadline or later, when nothing can write to its destination
 * any more; if it has failed before that, it says so first.
 */
final class GrantedRead {
  private final RemoteRead asked;
  private final PeerBlocks with;
  private final NodeId owner;
  private final long deadlineNanos;
  private final List<Place> places = new ArrayList<>();
  private final List<RangeRead> ranges = new ArrayList<>();
  private volatile @Nullable TransferRead transfer;

  /** Which slice a range is. */
  private record Place(int block, int slice) {}

  GrantedRead(RemoteRead asked, PeerBlocks with) {
    this.asked = asked;
    this.with = with;
    this.owner = asked.owner().node();
    this.deadlineNanos = System.nanoTime() + Duration.ofMillis(asked.timeoutMillis()).toNanos();
  }

  /** Asks for the grant. */
  void begin() {
    Optional<OwnerRun> self = with.self();
    Optional<MemberRecord> member = with.member(owner);
    Optional<PeerClient> client = with.client(owner);
    if (self.isEmpty()) {
      end(RemoteFailure.CANCELLED, "this host is no member");
    } else if (member.isEmpty()
        || client.isEmpty()
        || !member.get().runtime().equals(asked.owner().runtime())) {
      end(RemoteFailure.STALE, asked.owner() + " is not live");
    } else if (!member.get().carrier().name().equals(with.carrier())) {
      end(
          RemoteFailure.UNREACHABLE,
          "%s moves blocks by %s, this host by %s"
              .formatted(owner, member.get().carrier().name(), with.carrier()));
    } else if (asked.stopped()) {
      end(RemoteFailure.CANCELLED, "nobody wants it any more");
    } else {
      authorize(self.get(), member.get(), client.get());
    }
  }

  private void authorize(OwnerRun self, MemberRecord member, PeerClient client) {
    GrantRequest request =
        new GrantRequest(
            self,
            asked.owner().runtime(),
            asked.blocks().getFirst().key().namespace(),
            asked.format(),
            asked.blocks().stream()
                .map(
                    block ->
                        new GrantRequest.Wanted(
                            block.key(), RemoteNames.tier(block.tier()), block.generation()))
                .toList(),
            left());
    var _ =
        client
            .authorize(request, left())
            .handle(
                (answer, failure) -> {
                  try {
                    take(self, member, answer, failure);
                  } catch (RuntimeException wrong) {
                    end(RemoteFailure.MISBEHAVED, "the grant cannot be used: " + wrong);
                  }
                  return true;
                });
  }

  private void take(
      OwnerRun self,
      MemberRecord member,
      @Nullable PeerAnswer<GrantAnswer> answer,
      @Nullable Throwable failure) {
    switch (answer) {
      case null -> end(RemoteFailure.UNREACHABLE, String.valueOf(failure));
      case PeerAnswer.Failed<GrantAnswer>(Refusal refusal) ->
          end(
              left().isZero() ? RemoteFailure.DEADLINE : RemoteFailure.UNREACHABLE,
              refusal.toString());
      case PeerAnswer.Reached<GrantAnswer>(GrantAnswer.Refused(Refusal refusal)) -> {
        if (RemoteNames.cause(refusal) == RemoteFailure.STALE) {
          asked.blocks().forEach(this::reject);
        }
        end(RemoteNames.cause(refusal), refusal.toString());
      }
      case PeerAnswer.Reached<GrantAnswer>(GrantAnswer.Granted granted) ->
          read(self, member, granted);
    }
  }

  private void read(OwnerRun self, MemberRecord member, GrantAnswer.Granted granted) {
    asked.granted(granted.grantId());
    for (int block = 0; block < granted.blocks().size(); block++) {
      switch (granted.blocks().get(block)) {
        case GrantAnswer.BlockOutcome.Given(List<GrantAnswer.SliceRange> slices) ->
            add(block, slices);
        case GrantAnswer.BlockOutcome.NotGiven(Refusal refusal) -> {
          reject(asked.blocks().get(block));
          asked.failed(RemoteNames.cause(refusal), refusal.toString());
        }
      }
    }
    Duration left = left();
    if (ranges.isEmpty() || left.isZero() || asked.stopped()) {
      if (!ranges.isEmpty()) {
        asked.failed(
            left.isZero() ? RemoteFailure.DEADLINE : RemoteFailure.CANCELLED,
            "the grant came too late");
      }
      with.release(self, owner, granted.grantId(), true, "not read");
      with.ended(this, asked);
      return;
    }
    TransferRead begun =
        with.transfer()
            .read(
                new PeerEndpoint(
                    member.transfer().host(), member.transfer().port(), member.runtime()),
                new Grant(
                    granted.grantId(),
                    new Secret(granted.secret().high(), granted.secret().low()),
                    member.runtime(),
                    ranges.stream().map(RangeRead::source).toList(),
                    granted.validity()),
                ranges,
                (index, _, _) -> asked.verify(places.get(index).block(), places.get(index).slice()),
                left);
    transfer = begun;
    var _ = begun.outcome().thenAccept(outcome -> over(self, granted.grantId(), begun, outcome));
  }

  private void add(int block, List<GrantAnswer.SliceRange> slices) {
    long[] bytes = slices.stream().mapToLong(GrantAnswer.SliceRange::length).toArray();
    long[] sums = slices.stream().mapToLong(GrantAnswer.SliceRange::checksum).toArray();
    if (!asked.given(block, bytes, sums)) {
      return;
    }
    for (int slice = 0; slice < slices.size(); slice++) {
      places.add(new Place(block, slice));
      ranges.add(
          new RangeRead(
              new PoolRange(slices.get(slice).offset(), bytes[slice]),
              asked.destination(block, slice)));
    }
  }

  /** The read has ended; its destination may not be free yet. */
  private void over(OwnerRun self, UUID grant, TransferRead read, ReadOutcome outcome) {
    switch (outcome) {
      case Receipt _ -> {
        // Every byte is there and has its sum.
      }
      case TransferFailure failure -> {
        asked.failed(RemoteNames.cause(failure), failure + "; " + failure.remedy());
        if (!read.released().isDone()) {
          with.failed(this, asked);
          with.release(self, owner, grant, false, failure.getClass().getSimpleName());
        }
      }
    }
    var _ =
        read.released()
            .thenAccept(
                _ -> {
                  with.release(self, owner, grant, true, outcome.getClass().getSimpleName());
                  with.ended(this, asked);
                });
  }

  /** Ends what nobody wants any more. */
  void giveUpIfStopped() {
    TransferRead begun = transfer;
    if (begun != null && asked.stopped()) {
      begun.cancel();
    }
  }

  private void reject(RemoteRead.Block block) {
    with.rejected(
        block.key(),
        new Candidate(
            RemoteNames.run(asked.owner()), RemoteNames.tier(block.tier()), block.generation(), 0));
  }

  /** It could not even begin. */
  void broken() {
    end(RemoteFailure.MISBEHAVED, "this host could not ask for it: see its log");
  }

  /** Ends it before any byte was asked for. */
  private void end(RemoteFailure cause, String why) {
    asked.failed(cause, why);
    with.ended(this, asked);
  }

  private Duration left() {
    return Duration.ofNanos(Math.max(0, deadlineNanos - System.nanoTime()));
  }
}
