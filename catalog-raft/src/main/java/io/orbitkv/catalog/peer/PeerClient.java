package io.orbitkv.catalog.peer;

import com.google.common.util.concurrent.FutureCallback;
import com.google.common.util.concurrent.Futures;
import com.google.protobuf.MessageLite;
import io.grpc.CallOptions;
import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.orbitkv.catalog.calls.CallBudget;
import io.orbitkv.catalog.calls.CircuitBreaker;
import io.orbitkv.catalog.calls.Endpoint;
import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.inventory.InventoryLink;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.lookup.Answer;
import io.orbitkv.catalog.lookup.Question;
import io.orbitkv.catalog.peer.PeerStats.Side;
import io.orbitkv.catalog.peer.proto.GetPlacementsRequest;
import io.orbitkv.catalog.peer.proto.GetPlacementsResponse;
import io.orbitkv.catalog.peer.proto.HandoffAction;
import io.orbitkv.catalog.peer.proto.HandoffRequest;
import io.orbitkv.catalog.peer.proto.HandoffResponse;
import io.orbitkv.catalog.peer.proto.HandoffStatus;
import io.orbitkv.catalog.peer.proto.PeerGrpc;
import io.orbitkv.catalog.peer.proto.ReleaseResponse;
import io.orbitkv.catalog.peer.proto.SubscribeRequest;
import io.orbitkv.catalog.peer.proto.SubscriptionEvent;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.NodeId;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * Calls one other host. No call waits in this thread, every call has a deadline, and none is made
 * beyond the budget or while the breaker is open: it fails at once instead.
 */
public final class PeerClient implements AutoCloseable {
  static final int KEEPALIVE_SECONDS = 10;
  static final int KEEPALIVE_TIMEOUT_SECONDS = 3;
  private static final int CONNECT_MILLIS = 2000;
  private static final String UNREACHED = "ask another host; this one is asked again after a while";

  private final NodeId peer;
  private final Endpoint endpoint;
  private final PeerLimits limits;
  private final PeerStats stats;
  private final ManagedChannel channel;
  private final io.grpc.Channel calls;
  private final CallBudget budget;
  private final CircuitBreaker breaker;

  /**
   * A client that connects at its first call.
   *
   * @throws IOException when a file of {@code security} cannot be read
   */
  PeerClient(
      NodeId self,
      NodeId peer,
      Endpoint endpoint,
      PeerSecurity security,
      PeerLimits limits,
      PeerStats stats,
      PeerThreads threads,
      RandomGenerator random,
      LongSupplier clock)
      throws IOException {
    this.peer = peer;
    this.endpoint = endpoint;
    this.limits = limits;
    this.stats = stats;
    NettyChannelBuilder builder =
        NettyChannelBuilder.forAddress(endpoint.host(), endpoint.port(), credentials(security))
            .eventLoopGroup(threads.loops)
            .channelType(NioSocketChannel.class)
            .executor(threads.handlers)
            .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
            .maxInboundMessageSize(limits.maxMessageBytes())
            .keepAliveTime(KEEPALIVE_SECONDS, TimeUnit.SECONDS)
            .keepAliveTimeout(KEEPALIVE_TIMEOUT_SECONDS, TimeUnit.SECONDS)
            .disableRetry();
    if (security.tls().isPresent()) {
      builder.overrideAuthority(peer.toString()); // the certificate names the node
    }
    this.channel = builder.build();
    Metadata headers = new Metadata();
    headers.put(PeerAuth.NODE, self.toString());
    security.token().ifPresent(token -> headers.put(PeerAuth.AUTHORIZATION, "Bearer " + token));
    this.calls =
        io.grpc.ClientInterceptors.intercept(
            channel, MetadataUtils.newAttachHeadersInterceptor(headers));
    this.budget = new CallBudget(limits.maxCalls(), limits.maxCallBytes());
    this.breaker =
        new CircuitBreaker(
            limits.failuresToOpen(),
            limits.firstWait().toMillis(),
            limits.longestWait().toMillis(),
            random,
            clock);
  }

  private static ChannelCredentials credentials(PeerSecurity security) throws IOException {
    if (security.tls().isEmpty()) {
      return InsecureChannelCredentials.create();
    }
    PeerSecurity.TlsFiles files = security.tls().get();
    return TlsChannelCredentials.newBuilder()
        .keyManager(files.certificate().toFile(), files.privateKey().toFile())
        .trustManager(files.authority().toFile())
        .build();
  }

  /** Where it calls. */
  public Endpoint endpoint() {
    return endpoint;
  }

  /** What the breaker lets through. */
  public CircuitBreaker.State breaker() {
    return breaker.state();
  }

  /** Asks for the right to read blocks. */
  public CompletableFuture<PeerAnswer<GrantAnswer>> authorize(
      GrantRequest request, Duration timeout) {
    return call(
        PeerGrpc.getAuthorizeMethod(),
        GrantProtos.request(request),
        timeout,
        response -> GrantProtos.answer(response, request));
  }

  /** Gives a grant back; empty when the owner took it. */
  public CompletableFuture<PeerAnswer<Optional<Refusal>>> release(
      GrantRelease release, Duration timeout) {
    return call(
        PeerGrpc.getReleaseMethod(),
        GrantProtos.release(release),
        timeout,
        response ->
            response.getResultCase() == ReleaseResponse.ResultCase.REFUSED
                ? Optional.of(Protos.refusal(response.getRefused()))
                : Optional.empty());
  }

  /** Asks who has blocks. */
  public CompletableFuture<Answer> lookup(Question question, Duration timeout) {
    return call(
            PeerGrpc.getLookupMethod(),
            Protos.question(question),
            timeout,
            response -> Protos.answer(response, question))
        .thenApply(
            answer ->
                switch (answer) {
                  case PeerAnswer.Reached<Answer>(Answer said) -> said;
                  case PeerAnswer.Failed<Answer>(Refusal refusal) -> new Answer.Refused(refusal);
                });
  }

  /** Reads placements; all when none is named. */
  public CompletableFuture<PeerAnswer<CatalogAdmin.Placements>> placements(
      Set<Integer> catalogShards, Duration timeout) {
    return call(
        PeerGrpc.getGetPlacementsMethod(),
        GetPlacementsRequest.newBuilder().addAllCatalogShards(catalogShards).build(),
        timeout,
        response ->
            response.getResultCase() == GetPlacementsResponse.ResultCase.PLACEMENTS
                ? new CatalogAdmin.Placements.Known(
                    response.getPlacements().getPlacementsList().stream()
                        .map(Protos::placement)
                        .toList())
                : new CatalogAdmin.Placements.Refused(Protos.refusal(response.getRefused())));
  }

  /** Gives an order. */
  public CompletableFuture<PeerAnswer<HandoffReport>> handoff(
      HandoffOrder order, Duration timeout) {
    return call(PeerGrpc.getHandoffMethod(), order(order), timeout, PeerClient::report);
  }

  private static HandoffRequest order(HandoffOrder order) {
    HandoffRequest.Builder request =
        HandoffRequest.newBuilder().setCatalogShard(order.catalogShard());
    switch (order) {
      case HandoffOrder.Show _ -> request.setAction(HandoffAction.SHOW);
      case HandoffOrder.Start start -> {
        request.setAction(HandoffAction.START).setExpectedGeneration(start.fromGeneration());
        start.members().forEach(member -> request.addMembers(member.toString()));
      }
      case HandoffOrder.Resume resume ->
          request.setAction(HandoffAction.RESUME).setAttempt(resume.attempt());
      case HandoffOrder.RollBack back ->
          request.setAction(HandoffAction.ROLL_BACK).setAttempt(back.attempt());
    }
    return request.build();
  }

  private static HandoffReport report(HandoffResponse response) {
    if (response.getResultCase() != HandoffResponse.ResultCase.STATUS) {
      return new HandoffReport.Refused(Protos.refusal(response.getRefused()));
    }
    HandoffStatus status = response.getStatus();
    return new HandoffReport.Status(
        Protos.placement(status.getCurrent()),
        status.hasNext() ? Optional.of(Protos.placement(status.getNext())) : Optional.empty(),
        status.getAttempt(),
        status.getStep(),
        status.getProgress());
  }

  /**
   * Follows changes until either side ends it.
   *
   * @return ends it; {@code events} is then told an error
   */
  public Runnable subscribe(SubscribeRequest request, StreamObserver<SubscriptionEvent> events) {
    io.grpc.Context.CancellableContext context = io.grpc.Context.current().withCancellation();
    context.run(() -> PeerGrpc.newStub(calls).subscribe(request, events));
    return () -> context.cancel(null);
  }

  /** Opens an inventory stream; see {@link io.orbitkv.catalog.inventory.InventoryDialer}. */
  InventoryLink inventory(OwnerRun run, int catalogShard, InventoryLink.Listener listener) {
    if (!breaker.tryCall()) {
      listener.closed(peer + " did not answer lately");
      return ClosedLink.INSTANCE;
    }
    channel.resetConnectBackoff();
    GrpcInventoryLink link =
        new GrpcInventoryLink(
            listener,
            status -> {
              stats.count(Side.CLIENT, peer.toString(), "Inventory", status.getCode().name());
              note(status);
            });
    link.open(PeerGrpc.newStub(calls), run, catalogShard);
    return link;
  }

  private <Q extends MessageLite, P, R> CompletableFuture<PeerAnswer<R>> call(
      MethodDescriptor<Q, P> method,
      Q request,
      Duration timeout,
      Function<? super P, ? extends R> read) {
    String name = String.valueOf(method.getBareMethodName());
    long bytes = request.getSerializedSize();
    if (!budget.tryAcquire(bytes)) {
      return failed(name, RefusalCategory.RESOURCE, budget + " under way to " + peer, "wait");
    }
    if (!breaker.tryCall()) {
      budget.release(bytes);
      return failed(name, RefusalCategory.UNAVAILABLE, peer + " did not answer lately", UNREACHED);
    }
    if (breaker.state() == CircuitBreaker.State.HALF_OPEN) {
      channel.resetConnectBackoff(); // the breaker's waits count, not the channel's own
    }
    long nanos = Math.min(timeout.toNanos(), limits.callTimeout().toNanos());
    CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(nanos, TimeUnit.NANOSECONDS);
    CompletableFuture<PeerAnswer<R>> done = new CompletableFuture<>();
    Futures.addCallback(
        ClientCalls.futureUnaryCall(calls.newCall(method, options), request),
        new FutureCallback<P>() {
          @Override
          public void onSuccess(P response) {
            budget.release(bytes);
            breaker.answered();
            try {
              R value = read.apply(response);
              stats.count(Side.CLIENT, peer.toString(), name, "OK");
              done.complete(new PeerAnswer.Reached<>(value));
            } catch (IllegalArgumentException e) {
              stats.count(Side.CLIENT, peer.toString(), name, "BAD_ANSWER");
              done.complete(
                  new PeerAnswer.Failed<>(
                      new Refusal(
                          RefusalCategory.INTERNAL,
                          peer + " answered what cannot be: " + e.getMessage(),
                          "run one version on all hosts")));
            }
          }

          @Override
          public void onFailure(Throwable failure) {
            budget.release(bytes);
            Status status = Status.fromThrowable(failure);
            note(status);
            stats.count(Side.CLIENT, peer.toString(), name, status.getCode().name());
            done.complete(new PeerAnswer.Failed<>(refusal(status)));
          }
        },
        Runnable::run);
    return done;
  }

  /** What a status says about the host: silence counts against it, any answer for it. */
  private void note(Status status) {
    switch (status.getCode()) {
      case UNAVAILABLE, DEADLINE_EXCEEDED -> breaker.failed();
      case CANCELLED -> breaker.abandoned();
      case OK,
          UNKNOWN,
          INVALID_ARGUMENT,
          NOT_FOUND,
          ALREADY_EXISTS,
          PERMISSION_DENIED,
          RESOURCE_EXHAUSTED,
          FAILED_PRECONDITION,
          ABORTED,
          OUT_OF_RANGE,
          UNIMPLEMENTED,
          INTERNAL,
          DATA_LOSS,
          UNAUTHENTICATED ->
          breaker.answered();
    }
  }

  private Refusal refusal(Status status) {
    String reason = peer + ": " + status.getCode() + " " + status.getDescription();
    return switch (status.getCode()) {
      case RESOURCE_EXHAUSTED ->
          new Refusal(RefusalCategory.RESOURCE, reason, "wait for some calls to end");
      case UNAUTHENTICATED, PERMISSION_DENIED ->
          new Refusal(
              RefusalCategory.USER,
              reason,
              "give all hosts the same peer token and certificates of one authority");
      case INVALID_ARGUMENT, UNIMPLEMENTED ->
          new Refusal(RefusalCategory.INTERNAL, reason, "run one version on all hosts");
      case OK,
          CANCELLED,
          UNKNOWN,
          DEADLINE_EXCEEDED,
          NOT_FOUND,
          ALREADY_EXISTS,
          FAILED_PRECONDITION,
          ABORTED,
          OUT_OF_RANGE,
          INTERNAL,
          UNAVAILABLE,
          DATA_LOSS ->
          new Refusal(RefusalCategory.UNAVAILABLE, reason, UNREACHED);
    };
  }

  private <R> CompletableFuture<PeerAnswer<R>> failed(
      String call, RefusalCategory category, String reason, String remedy) {
    stats.count(Side.CLIENT, peer.toString(), call, "NOT_SENT");
    return CompletableFuture.completedFuture(
        new PeerAnswer.Failed<>(new Refusal(category, reason, remedy)));
  }

  /** Ends the connection and what is under way on it. */
  @Override
  public void close() {
    channel.shutdownNow();
  }
}
