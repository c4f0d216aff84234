package io.orbitkv.manager.cluster;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.membership.RemoteAdmission;
import io.orbitkv.catalog.peer.GrantAnswer;
import io.orbitkv.catalog.peer.GrantAuthority;
import io.orbitkv.catalog.peer.GrantRelease;
import io.orbitkv.catalog.peer.GrantRequest;
import io.orbitkv.core.Command;
import io.orbitkv.core.Reply;
import io.orbitkv.core.ReplySink;
import io.orbitkv.core.remote.BlockGrant;
import io.orbitkv.core.remote.GrantRefusal;
import io.orbitkv.core.remote.PeerRun;
import io.orbitkv.core.remote.WantedBlock;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.NodeId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Where peers ask for grants: the loop decides. A host that is fenced gives none, for others may
 * believe that it is gone; it takes back what it gave at any time.
 */
final class PeerGrants implements GrantAuthority {
  private static final Refusal BUSY =
      new Refusal(
          RefusalCategory.RESOURCE,
          "too many commands wait for this host's loop",
          "read from another source, or later");

  private final Supplier<RemoteAdmission> admission;
  private final Predicate<Command> loop;

  /**
   * @param loop hands a command to the loop; false if too many wait
   */
  PeerGrants(Supplier<RemoteAdmission> admission, Predicate<Command> loop) {
    this.admission = admission;
    this.loop = loop;
  }

  @Override
  public CompletionStage<GrantAnswer> authorize(NodeId peer, GrantRequest request) {
    if (admission.get() instanceof RemoteAdmission.Fenced(String reason, Instant _)) {
      return CompletableFuture.completedFuture(
          new GrantAnswer.Refused(
              new Refusal(
                  RefusalCategory.UNAVAILABLE,
                  "this host is fenced: " + reason,
                  "read from another source")));
    }
    List<WantedBlock> wanted =
        request.blocks().stream()
            .map(
                block ->
                    new WantedBlock(
                        block.key(), RemoteNames.tier(block.tier()), block.generation()))
            .toList();
    return ask(
        sink ->
            new Command.AuthorizeGrant(
                run(request.requester()),
                request.ownerRuntime(),
                request.format(),
                wanted,
                request.validity().toMillis(),
                sink),
        PeerGrants::answer,
        new GrantAnswer.Refused(BUSY));
  }

  @Override
  public CompletionStage<Optional<Refusal>> release(NodeId peer, GrantRelease release) {
    return ask(
        sink -> new Command.ReleaseGrant(run(release.requester()), release.grantId(), sink),
        reply ->
            switch (reply) {
              case Reply.GrantRefused(GrantRefusal reason, String message) ->
                  Optional.of(refusal(reason, message));
              default -> Optional.empty();
            },
        Optional.of(BUSY));
  }

  private <T> CompletionStage<T> ask(
      Function<ReplySink, Command> command, Function<Reply, T> answer, T busy) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    return loop.test(command.apply(reply::complete))
        ? reply.thenApplyAsync(answer)
        : CompletableFuture.completedFuture(busy);
  }

  private static GrantAnswer answer(Reply reply) {
    return switch (reply) {
      case Reply.Granted granted ->
          new GrantAnswer.Granted(
              granted.admission().id(),
              new GrantAnswer.Secret(
                  granted.admission().secretHigh(), granted.admission().secretLow()),
              Duration.ofMillis(granted.validMillis()),
              granted.blocks().stream().map(PeerGrants::outcome).toList());
      case Reply.GrantRefused(GrantRefusal reason, String message) ->
          new GrantAnswer.Refused(refusal(reason, message));
      default -> throw new IllegalStateException(reply + " is no answer to a peer");
    };
  }

  private static GrantAnswer.BlockOutcome outcome(BlockGrant block) {
    return switch (block) {
      case BlockGrant.Given(List<BlockGrant.Slice> slices) ->
          new GrantAnswer.BlockOutcome.Given(
              slices.stream()
                  .map(
                      slice ->
                          new GrantAnswer.SliceRange(
                              slice.shard(), slice.poolOffset(), slice.bytes(), slice.checksum()))
                  .toList());
      case BlockGrant.NotGiven(GrantRefusal reason, String message) ->
          new GrantAnswer.BlockOutcome.NotGiven(refusal(reason, message));
    };
  }

  private static Refusal refusal(GrantRefusal reason, String message) {
    return new Refusal(reason.category(), reason + ": " + message, reason.remedy());
  }

  private static PeerRun run(OwnerRun run) {
    return new PeerRun(run.node(), run.runtime(), run.epoch());
  }
}
