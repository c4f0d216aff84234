package io.orbitkv.catalog.peer;

import com.google.protobuf.MessageLite;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.orbitkv.catalog.calls.CallBudget;
import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.inventory.InventoryReceiver;
import io.orbitkv.catalog.inventory.InventoryReply;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.peer.PeerStats.Side;
import io.orbitkv.catalog.peer.proto.AuthorizeRequest;
import io.orbitkv.catalog.peer.proto.AuthorizeResponse;
import io.orbitkv.catalog.peer.proto.GetPlacementsRequest;
import io.orbitkv.catalog.peer.proto.GetPlacementsResponse;
import io.orbitkv.catalog.peer.proto.HandoffRequest;
import io.orbitkv.catalog.peer.proto.HandoffResponse;
import io.orbitkv.catalog.peer.proto.HandoffStatus;
import io.orbitkv.catalog.peer.proto.InventoryDown;
import io.orbitkv.catalog.peer.proto.InventoryUp;
import io.orbitkv.catalog.peer.proto.LookupRequest;
import io.orbitkv.catalog.peer.proto.LookupResponse;
import io.orbitkv.catalog.peer.proto.PeerGrpc;
import io.orbitkv.catalog.peer.proto.Placements;
import io.orbitkv.catalog.peer.proto.ReleaseRequest;
import io.orbitkv.catalog.peer.proto.ReleaseResponse;
import io.orbitkv.catalog.peer.proto.Released;
import io.orbitkv.catalog.peer.proto.SubscribeRequest;
import io.orbitkv.catalog.peer.proto.SubscriptionEvent;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers peers: checks and counts, then asks the handlers. */
final class PeerService extends PeerGrpc.PeerImplBase {
  private static final Logger LOG = LoggerFactory.getLogger(PeerService.class);

  private final PeerHandlers handlers;
  private final PeerLimits limits;
  private final PeerStats stats;
  private final Map<NodeId, CallBudget> calls = new ConcurrentHashMap<>();
  private final Map<NodeId, CallBudget> streams = new ConcurrentHashMap<>();

  PeerService(PeerHandlers handlers, PeerLimits limits, PeerStats stats) {
    this.handlers = handlers;
    this.limits = limits;
    this.stats = stats;
  }

  @Override
  public void authorize(AuthorizeRequest request, StreamObserver<AuthorizeResponse> to) {
    NodeId peer = PeerAuth.PEER.get();
    answer(
        "Authorize",
        request,
        to,
        () -> {
          GrantRequest wanted = GrantProtos.request(request);
          requireSelf(peer, wanted.requester());
          return handlers.grants().authorize(peer, wanted).thenApply(GrantProtos::answer);
        });
  }

  @Override
  public void release(ReleaseRequest request, StreamObserver<ReleaseResponse> to) {
    NodeId peer = PeerAuth.PEER.get();
    answer(
        "Release",
        request,
        to,
        () -> {
          GrantRelease release = GrantProtos.release(request);
          requireSelf(peer, release.requester());
          return handlers.grants().release(peer, release).thenApply(PeerService::released);
        });
  }

  private static ReleaseResponse released(Optional<Refusal> refusal) {
    ReleaseResponse.Builder response = ReleaseResponse.newBuilder();
    return refusal.isEmpty()
        ? response.setReleased(Released.getDefaultInstance()).build()
        : response.setRefused(Protos.refusal(refusal.get())).build();
  }

  @Override
  public void lookup(LookupRequest request, StreamObserver<LookupResponse> to) {
    answer(
        "Lookup",
        request,
        to,
        () ->
            CompletableFuture.completedFuture(
                Protos.answer(handlers.lookup().answer(Protos.question(request)))));
  }

  @Override
  public void getPlacements(
      GetPlacementsRequest request, StreamObserver<GetPlacementsResponse> to) {
    answer(
        "GetPlacements",
        request,
        to,
        () -> {
          Set<Integer> shards = new HashSet<>();
          request.getCatalogShardsList().forEach(shard -> shards.add(Protos.catalogShard(shard)));
          return handlers.admin().placements(shards).thenApply(PeerService::placements);
        });
  }

  private static GetPlacementsResponse placements(CatalogAdmin.Placements placements) {
    GetPlacementsResponse.Builder response = GetPlacementsResponse.newBuilder();
    return switch (placements) {
      case CatalogAdmin.Placements.Refused(Refusal refusal) ->
          response.setRefused(Protos.refusal(refusal)).build();
      case CatalogAdmin.Placements.Known(List<Placement> known) -> {
        Placements.Builder all = Placements.newBuilder();
        known.forEach(placement -> all.addPlacements(Protos.placement(placement)));
        yield response.setPlacements(all).build();
      }
    };
  }

  @Override
  public void handoff(HandoffRequest request, StreamObserver<HandoffResponse> to) {
    answer(
        "Handoff",
        request,
        to,
        () -> handlers.admin().handoff(order(request)).thenApply(PeerService::report));
  }

  private static HandoffOrder order(HandoffRequest request) {
    int shard = Protos.catalogShard(request.getCatalogShard());
    long generation = request.getExpectedGeneration();
    return switch (request.getAction()) {
      case SHOW -> new HandoffOrder.Show(shard);
      case START ->
          new HandoffOrder.Start(
              shard, generation, request.getMembersList().stream().map(NodeId::new).toList());
      case RESUME -> new HandoffOrder.Resume(shard, request.getAttempt());
      case ROLL_BACK -> new HandoffOrder.RollBack(shard, request.getAttempt());
      case UNRECOGNIZED -> throw new IllegalArgumentException("an order of a kind not known");
    };
  }

  private static HandoffResponse report(HandoffReport report) {
    HandoffResponse.Builder response = HandoffResponse.newBuilder();
    return switch (report) {
      case HandoffReport.Refused(Refusal refusal) ->
          response.setRefused(Protos.refusal(refusal)).build();
      case HandoffReport.Status(
              Placement current,
              var next,
              long attempt,
              String step,
              String progress) -> {
        HandoffStatus.Builder status =
            HandoffStatus.newBuilder()
                .setCurrent(Protos.placement(current))
                .setAttempt(attempt)
                .setStep(step)
                .setProgress(progress);
        next.ifPresent(placement -> status.setNext(Protos.placement(placement)));
        yield response.setStatus(status).build();
      }
    };
  }

  @Override
  public StreamObserver<InventoryUp> inventory(StreamObserver<InventoryDown> to) {
    return new Inventory(PeerAuth.PEER.get(), (ServerCallStreamObserver<InventoryDown>) to);
  }

  @Override
  public void subscribe(SubscribeRequest request, StreamObserver<SubscriptionEvent> to) {
    NodeId peer = PeerAuth.PEER.get();
    ServerCallStreamObserver<SubscriptionEvent> down =
        (ServerCallStreamObserver<SubscriptionEvent>) to;
    if (!streams(peer).tryAcquire(0)) {
      refuse(peer, "Subscribe", down, exhausted(streams(peer)));
      return;
    }
    try {
      Subscription subscription = new Subscription(request, handlers, down);
      stats.count(Side.SERVER, peer.toString(), "Subscribe", "OPENED");
      subscription.start(() -> streams(peer).release(0));
    } catch (IllegalArgumentException e) {
      streams(peer).release(0);
      refuse(peer, "Subscribe", down, Status.INVALID_ARGUMENT.withDescription(e.getMessage()));
    }
  }

  private <Q extends MessageLite, R> void answer(
      String call, Q request, StreamObserver<R> to, Supplier<CompletionStage<R>> handler) {
    NodeId peer = PeerAuth.PEER.get();
    CallBudget budget =
        calls.computeIfAbsent(peer, _ -> new CallBudget(limits.maxCalls(), limits.maxCallBytes()));
    long bytes = request.getSerializedSize();
    if (!budget.tryAcquire(bytes)) {
      refuse(peer, call, to, exhausted(budget));
      return;
    }
    CompletionStage<R> answer;
    try {
      answer = handler.get();
    } catch (IllegalArgumentException e) {
      budget.release(bytes);
      refuse(peer, call, to, Status.INVALID_ARGUMENT.withDescription(e.getMessage()));
      return;
    } catch (RuntimeException e) {
      budget.release(bytes);
      fail(peer, call, to, e);
      return;
    }
    answer.whenComplete(
        (value, failure) -> {
          budget.release(bytes);
          if (failure != null) {
            fail(peer, call, to, failure);
            return;
          }
          stats.count(Side.SERVER, peer.toString(), call, "OK");
          if (!((ServerCallStreamObserver<R>) to).isCancelled()) {
            to.onNext(value);
            to.onCompleted();
          }
        });
  }

  private void fail(NodeId peer, String call, StreamObserver<?> to, Throwable failure) {
    LOG.error("{} of {} failed", call, peer, failure);
    refuse(peer, call, to, Status.INTERNAL.withDescription("see this host's log"));
  }

  private void refuse(NodeId peer, String call, StreamObserver<?> to, Status status) {
    stats.count(Side.SERVER, peer.toString(), call, status.getCode().name());
    to.onError(status.asException());
  }

  private CallBudget streams(NodeId peer) {
    return streams.computeIfAbsent(peer, _ -> new CallBudget(limits.maxStreams(), 1));
  }

  private static Status exhausted(CallBudget budget) {
    return Status.RESOURCE_EXHAUSTED.withDescription(
        "this peer has " + budget + " under way; wait for some to end");
  }

  /** Peers speak for themselves only. */
  private static void requireSelf(NodeId peer, OwnerRun run) {
    if (!peer.equals(run.node())) {
      throw new IllegalArgumentException(peer + " speaks for " + run.node());
    }
  }

  /** The receiving end of one inventory stream; gRPC calls it one at a time. */
  private final class Inventory implements StreamObserver<InventoryUp> {
    private final NodeId peer;
    private final ServerCallStreamObserver<InventoryDown> down;
    private final boolean admitted;
    private InventoryReceiver.@Nullable Stream stream;
    private boolean over;

    Inventory(NodeId peer, ServerCallStreamObserver<InventoryDown> down) {
      this.peer = peer;
      this.down = down;
      CallBudget budget = streams(peer);
      admitted = budget.tryAcquire(0);
      if (!admitted) {
        over = true;
        refuse(peer, "Inventory", down, exhausted(budget));
        return;
      }
      // One of the two comes at the end of every call.
      CompletableFuture<Boolean> ended = new CompletableFuture<>();
      var _ = ended.thenAccept(_ -> budget.release(0));
      down.setOnCancelHandler(() -> ended.complete(true));
      down.setOnCloseHandler(() -> ended.complete(true));
    }

    @Override
    public void onNext(InventoryUp up) {
      if (over) {
        return;
      }
      try {
        take(up);
      } catch (IllegalArgumentException e) {
        over = true;
        refuse(peer, "Inventory", down, Status.INVALID_ARGUMENT.withDescription(e.getMessage()));
      }
    }

    private void take(InventoryUp up) {
      InventoryReply reply;
      InventoryReceiver.Stream open = stream;
      if (open == null) {
        if (!up.hasOpen()) {
          throw new IllegalArgumentException("a frame before the stream was opened");
        }
        OwnerRun owner = Protos.run(up.getOpen().getOwner());
        requireSelf(peer, owner);
        open = handlers.receiver().open(owner, Protos.catalogShard(up.getOpen().getCatalogShard()));
        stream = open;
        reply = open.first();
        stats.count(Side.SERVER, peer.toString(), "Inventory", outcome(reply));
      } else {
        reply = open.frame(InventoryProtos.frame(up));
      }
      down.onNext(InventoryProtos.reply(reply));
      if (reply instanceof InventoryReply.Restart || reply instanceof InventoryReply.Rejected) {
        over = true;
        down.onCompleted();
      }
    }

    private static String outcome(InventoryReply reply) {
      return switch (reply) {
        case InventoryReply.Accepted _, InventoryReply.Progress _ -> "OPENED";
        case InventoryReply.Restart _ -> "RESTART";
        case InventoryReply.Rejected _ -> "REJECTED";
      };
    }

    @Override
    public void onError(Throwable failure) {
      over = true;
    }

    @Override
    public void onCompleted() {
      if (!over) {
        over = true;
        down.onCompleted();
      }
    }
  }
}
