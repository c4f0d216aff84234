package io.orbitkv.catalog.peer;

import io.orbitkv.catalog.calls.CircuitBreaker;
import io.orbitkv.catalog.calls.Endpoint;
import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.inventory.InventoryDialer;
import io.orbitkv.catalog.inventory.InventoryLink;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.lookup.Answer;
import io.orbitkv.catalog.lookup.Question;
import io.orbitkv.catalog.lookup.ReplicaAsker;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.NodeId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/** One {@link PeerClient} for each host, at the endpoint that the membership names. */
public final class PeerClients implements InventoryDialer, ReplicaAsker, AutoCloseable {
  private final NodeId self;
  private final Function<NodeId, Optional<Endpoint>> endpoints;
  private final PeerSecurity security;
  private final PeerLimits limits;
  private final PeerStats stats;
  private final PeerThreads threads;
  private final RandomGenerator random;
  private final LongSupplier clock;
  private final Map<NodeId, PeerClient> clients = new HashMap<>();

  /**
   * Without a client yet.
   *
   * @param self this host's node id, which calls carry
   * @param endpoints where a host listens, empty when it is not known; never waits
   * @param random draws jitter
   * @param clock nanoseconds that never fall
   */
  public PeerClients(
      NodeId self,
      Function<NodeId, Optional<Endpoint>> endpoints,
      PeerSecurity security,
      PeerLimits limits,
      PeerStats stats,
      PeerThreads threads,
      RandomGenerator random,
      LongSupplier clock) {
    this.self = self;
    this.endpoints = endpoints;
    this.security = security;
    this.limits = limits;
    this.stats = stats;
    this.threads = threads;
    this.random = random;
    this.clock = clock;
  }

  /**
   * The client of a host; empty when nobody knows where it listens. A host that moved gets a new
   * one.
   *
   * @throws UncheckedIOException when a certificate file cannot be read any more
   */
  public synchronized Optional<PeerClient> client(NodeId peer) {
    Optional<Endpoint> endpoint = endpoints.apply(peer);
    PeerClient known = clients.get(peer);
    if (known != null && (endpoint.isEmpty() || known.endpoint().equals(endpoint.get()))) {
      return Optional.of(known); // where it was is better than nowhere
    }
    if (endpoint.isEmpty()) {
      return Optional.empty();
    }
    if (known != null) {
      known.close();
    }
    try {
      PeerClient made =
          new PeerClient(
              self, peer, endpoint.get(), security, limits, stats, threads, random, clock);
      clients.put(peer, made);
      return Optional.of(made);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What each breaker lets through. */
  public synchronized Map<NodeId, CircuitBreaker.State> breakers() {
    Map<NodeId, CircuitBreaker.State> states = new TreeMap<>();
    clients.forEach((node, client) -> states.put(node, client.breaker()));
    return states;
  }

  @Override
  public InventoryLink open(
      NodeId replica, OwnerRun run, int catalogShard, InventoryLink.Listener listener) {
    Optional<PeerClient> client = client(replica);
    if (client.isEmpty()) {
      listener.closed("nobody knows where " + replica + " listens");
      return ClosedLink.INSTANCE;
    }
    return client.get().inventory(run, catalogShard, listener);
  }

  @Override
  public CompletableFuture<Answer> ask(NodeId replica, Question question, Duration timeout) {
    return client(replica)
        .map(client -> client.lookup(question, timeout))
        .orElseGet(
            () ->
                CompletableFuture.completedFuture(
                    new Answer.Refused(
                        new Refusal(
                            RefusalCategory.UNAVAILABLE,
                            "nobody knows where " + replica + " listens",
                            "see that it is started with the same --etcd-endpoints"))));
  }

  /** Ends all connections. */
  @Override
  public synchronized void close() {
    clients.values().forEach(PeerClient::close);
    clients.clear();
  }
}
