package io.orbitkv.manager.cluster;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.membership.RemoteAdmission;
import io.orbitkv.catalog.peer.GrantAnswer;
import io.orbitkv.catalog.peer.GrantAuthority;
import io.orbitkv.catalog.peer.GrantRelease;
import io.orbitkv.catalog.peer.GrantRequest;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.NodeId;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** Where peers ask for grants: a host that is fenced gives none. */
final class GrantGate implements GrantAuthority {
  private final Supplier<RemoteAdmission> admission;

  GrantGate(Supplier<RemoteAdmission> admission) {
    this.admission = admission;
  }

  @Override
  public CompletionStage<GrantAnswer> authorize(NodeId peer, GrantRequest request) {
    return CompletableFuture.completedFuture(
        new GrantAnswer.Refused(
            switch (admission.get()) {
              case RemoteAdmission.Fenced(String reason, Instant _) ->
                  new Refusal(
                      RefusalCategory.UNAVAILABLE,
                      "this host is fenced: " + reason,
                      "read from another source");
              case RemoteAdmission.Open _ ->
                  new Refusal(
                      RefusalCategory.UNAVAILABLE,
                      "this version gives no grants",
                      "compute the blocks");
            }));
  }

  @Override
  public CompletionStage<Optional<Refusal>> release(NodeId peer, GrantRelease release) {
    return CompletableFuture.completedFuture(
        Optional.of(
            new Refusal(RefusalCategory.STALE, "there is no such grant", "nothing is to be done")));
  }
}
