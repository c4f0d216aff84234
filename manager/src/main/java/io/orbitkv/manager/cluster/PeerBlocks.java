package io.orbitkv.manager.cluster;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.inventory.Candidate;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.lookup.CatalogLookup;
import io.orbitkv.catalog.lookup.Exclusions;
import io.orbitkv.catalog.lookup.LookupResult;
import io.orbitkv.catalog.membership.MemberRecord;
import io.orbitkv.catalog.peer.GrantRelease;
import io.orbitkv.catalog.peer.PeerAnswer;
import io.orbitkv.catalog.peer.PeerClient;
import io.orbitkv.catalog.peer.PeerClients;
import io.orbitkv.core.remote.RemoteBlocks;
import io.orbitkv.core.remote.RemoteEvents;
import io.orbitkv.core.remote.RemoteLookup;
import io.orbitkv.core.remote.RemoteRead;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.identity.StateKey;
import io.orbitkv.transfer.TransferEngine;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Blocks of other hosts, for the loop: lookups in the catalog, and reads under grants. What happens
 * is queued here, and the loop is woken to take it; the queue holds no more than three entries for
 * each lookup and read that was taken, and those are bounded.
 */
final class PeerBlocks implements RemoteBlocks {
  private static final Logger LOG = LoggerFactory.getLogger(PeerBlocks.class);
  private static final int MOST_LOOKUPS = 1024;
  private static final int MOST_READS = 1024;
  private static final int RELEASE_TRIES = 5;
  private static final Duration RELEASE_TIMEOUT = Duration.ofSeconds(2);

  private final BooleanSupplier open;
  private final Supplier<Optional<OwnerRun>> self;
  private final Function<NodeId, Optional<MemberRecord>> members;
  private final CatalogLookup lookup;
  private final PeerClients clients;
  private final TransferEngine transfer;
  private final String carrier;
  private final Executor work;
  private final Runnable wakeLoop;

  private final Queue<Happening> happenings = new ConcurrentLinkedQueue<>();
  private final Set<GrantedRead> reads = ConcurrentHashMap.newKeySet();
  private final AtomicInteger lookups = new AtomicInteger();

  /** What the loop is told next. */
  private sealed interface Happening {
    record Found(RemoteLookup lookup) implements Happening {}

    record Failed(RemoteRead read) implements Happening {}

    record Ended(RemoteRead read) implements Happening {}
  }

  /**
   * @param open whether work with others may begin
   * @param self this run, once it is a member
   * @param members the live hosts
   * @param carrier the name of what moves blocks here
   * @param work runs what the loop must not
   */
  PeerBlocks(
      BooleanSupplier open,
      Supplier<Optional<OwnerRun>> self,
      Function<NodeId, Optional<MemberRecord>> members,
      CatalogLookup lookup,
      PeerClients clients,
      TransferEngine transfer,
      String carrier,
      Executor work,
      Runnable wakeLoop) {
    this.open = open;
    this.self = self;
    this.members = members;
    this.lookup = lookup;
    this.clients = clients;
    this.transfer = transfer;
    this.carrier = carrier;
    this.work = work;
    this.wakeLoop = wakeLoop;
  }

  @Override
  public boolean open() {
    return open.getAsBoolean() && self.get().isPresent();
  }

  @Override
  public boolean lookup(RemoteLookup asked) {
    if (lookups.incrementAndGet() > MOST_LOOKUPS) {
      lookups.decrementAndGet();
      return false;
    }
    boolean begun = begin(() -> find(asked), () -> found(asked));
    if (!begun) {
      lookups.decrementAndGet();
    }
    return begun;
  }

  private void find(RemoteLookup asked) {
    var _ =
        lookup
            .find(asked.keys(), new Exclusions(), Duration.ofMillis(asked.timeoutMillis()))
            .handle(
                (result, failure) -> {
                  if (failure == null) {
                    answer(asked, result);
                  }
                  found(asked);
                  return true;
                });
  }

  private void found(RemoteLookup asked) {
    lookups.decrementAndGet();
    tell(new Happening.Found(asked));
  }

  /**
   * Runs what the loop must not. Whatever goes wrong on the way ends it: the loop waits for an end
   * of all that it began.
   *
   * @return false if this host ends and takes no more work; then nothing is told either
   */
  private boolean begin(Runnable task, Runnable ifItFails) {
    try {
      work.execute(
          () -> {
            try {
              task.run();
            } catch (RuntimeException broken) {
              LOG.error("work with another host did not begin", broken);
              ifItFails.run();
            }
          });
      return true;
    } catch (RejectedExecutionException closing) {
      return false;
    }
  }

  private static void answer(RemoteLookup asked, LookupResult result) {
    List<List<Candidate>> byKey = result.byKey();
    for (int key = 0; key < byKey.size(); key++) {
      if (!byKey.get(key).isEmpty()) {
        asked.found(key, byKey.get(key).stream().map(RemoteNames::candidate).toList());
      }
    }
  }

  @Override
  public boolean read(RemoteRead asked) {
    if (reads.size() >= MOST_READS) {
      return false;
    }
    GrantedRead read = new GrantedRead(asked, this);
    reads.add(read);
    boolean begun = begin(read::begin, read::broken);
    if (!begun) {
      reads.remove(read);
    }
    return begun;
  }

  @Override
  public int poll(RemoteEvents events, int limit) {
    int told = 0;
    for (Happening next; told < limit && (next = happenings.poll()) != null; told++) {
      switch (next) {
        case Happening.Found(RemoteLookup asked) -> events.found(asked);
        case Happening.Failed(RemoteRead asked) -> events.failed(asked);
        case Happening.Ended(RemoteRead asked) -> events.ended(asked);
      }
    }
    return told;
  }

  /** Gives up the reads that nobody wants any more. Called again and again. */
  void giveUpStopped() {
    for (GrantedRead read : reads) {
      read.giveUpIfStopped();
    }
  }

  // ---- for the reads ---------------------------------------------------------------------------

  Optional<OwnerRun> self() {
    return self.get();
  }

  TransferEngine transfer() {
    return transfer;
  }

  String carrier() {
    return carrier;
  }

  Optional<MemberRecord> member(NodeId node) {
    return members.apply(node);
  }

  Optional<PeerClient> client(NodeId node) {
    return clients.client(node);
  }

  /** The owner has not what the catalog said: the next request asks the catalog again. */
  void rejected(StateKey key, Candidate candidate) {
    lookup.rejected(key, candidate, new Exclusions());
  }

  void failed(GrantedRead read, RemoteRead asked) {
    if (reads.contains(read)) {
      tell(new Happening.Failed(asked));
    }
  }

  void ended(GrantedRead read, RemoteRead asked) {
    if (reads.remove(read)) {
      tell(new Happening.Ended(asked));
    }
  }

  private void tell(Happening happening) {
    happenings.add(happening);
    wakeLoop.run();
  }

  /**
   * Gives a grant back, and tries again if that does not arrive: until then, or until the grant
   * runs out, its blocks stay pinned at their owner.
   */
  void release(OwnerRun requester, NodeId owner, UUID grant, boolean drained, String outcome) {
    release(owner, new GrantRelease(requester, grant, drained, outcome), 1);
  }

  private void release(NodeId owner, GrantRelease release, int attempt) {
    Optional<PeerClient> client = client(owner);
    if (client.isEmpty()) {
      return;
    }
    var _ =
        client
            .get()
            .release(release, RELEASE_TIMEOUT)
            .thenAccept(
                answer -> {
                  if (answer instanceof PeerAnswer.Failed<Optional<Refusal>>
                      && attempt < RELEASE_TRIES) {
                    CompletableFuture.delayedExecutor(100L << attempt, TimeUnit.MILLISECONDS, work)
                        .execute(() -> release(owner, release, attempt + 1));
                  }
                });
  }
}
