package io.orbitkv.manager.cluster;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.inventory.Candidate;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.inventory.Tier;
import io.orbitkv.core.remote.PeerRun;
import io.orbitkv.core.remote.RemoteCandidate;
import io.orbitkv.core.remote.RemoteTier;
import io.orbitkv.state.HostEvent.RemoteFailure;
import io.orbitkv.transfer.TransferFailure;

/** What the loop, the catalog and the transfer engine each call the same things. */
final class RemoteNames {
  private RemoteNames() {}

  static RemoteTier tier(Tier tier) {
    return switch (tier) {
      case DRAM -> RemoteTier.DRAM;
      case SSD -> RemoteTier.SSD;
    };
  }

  static Tier tier(RemoteTier tier) {
    return switch (tier) {
      case DRAM -> Tier.DRAM;
      case SSD -> Tier.SSD;
    };
  }

  static PeerRun run(OwnerRun run) {
    return new PeerRun(run.node(), run.runtime(), run.epoch());
  }

  static OwnerRun run(PeerRun run) {
    return new OwnerRun(run.node(), run.runtime(), run.epoch());
  }

  static RemoteCandidate candidate(Candidate candidate) {
    return new RemoteCandidate(
        run(candidate.owner()), tier(candidate.tier()), candidate.generation());
  }

  /** Why a grant did not come about. */
  static RemoteFailure cause(Refusal refusal) {
    return switch (refusal.category()) {
      case STALE -> RemoteFailure.STALE;
      case USER, RESOURCE -> RemoteFailure.REFUSED;
      case UNAVAILABLE -> RemoteFailure.UNREACHABLE;
      case INTERNAL -> RemoteFailure.MISBEHAVED;
    };
  }

  /** Why bytes did not come. */
  static RemoteFailure cause(TransferFailure failure) {
    return switch (failure) {
      case TransferFailure.Refused refused ->
          switch (refused.category()) {
            case STALE -> RemoteFailure.STALE;
            case USER, RESOURCE, UNAVAILABLE, INTERNAL -> RemoteFailure.REFUSED;
          };
      case TransferFailure.DeadlinePassed _ -> RemoteFailure.DEADLINE;
      case TransferFailure.Cancelled _, TransferFailure.Closed _ -> RemoteFailure.CANCELLED;
      case TransferFailure.Unreachable _ -> RemoteFailure.UNREACHABLE;
      case TransferFailure.PeerLost _ -> RemoteFailure.PEER_LOST;
      case TransferFailure.Misbehaved _ -> RemoteFailure.MISBEHAVED;
      case TransferFailure.Corrupt _ -> RemoteFailure.CORRUPT;
      case TransferFailure.Overloaded _ -> RemoteFailure.OVERLOADED;
    };
  }
}
