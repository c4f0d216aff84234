package io.orbitkv.manager.cluster;

import io.orbitkv.catalog.handoff.DeadMembers;
import io.orbitkv.catalog.handoff.HandoffDriver;
import io.orbitkv.catalog.inventory.Fingerprint;
import io.orbitkv.catalog.lookup.Answer;
import io.orbitkv.catalog.lookup.LocalLookup;
import io.orbitkv.catalog.lookup.Question;
import io.orbitkv.catalog.membership.HostSet;
import io.orbitkv.catalog.membership.MemberSnapshot;
import io.orbitkv.catalog.peer.PeerClients;
import io.orbitkv.catalog.placement.CatalogLog.LogAnswer;
import io.orbitkv.catalog.placement.CatalogView;
import io.orbitkv.catalog.placement.KnownPlacements;
import io.orbitkv.catalog.raft.CatalogReplicas;
import io.orbitkv.manager.config.ClusterConfig;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.NodeId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What keeps this host's knowledge of the catalog up to date, and what it does as a leader: founds
 * catalog shards once the hosts have agreed, learns placements from its replicas and, of catalog
 * shards that it has none of, from their leaders, and carries handoffs out. Belongs to one thread.
 */
final class CatalogSteps {
  private static final Logger LOG = LoggerFactory.getLogger(CatalogSteps.class);
  private static final long READ_NANOS = Duration.ofSeconds(2).toNanos();
  private static final Duration ASK = Duration.ofSeconds(2);

  /** Asked of a host that joins: what it finds does not matter, only whether its table is whole. */
  private static final List<Fingerprint> NOTHING = List.of(new Fingerprint(0, 0));

  private final ClusterConfig config;
  private final CatalogReplicas log;
  private final KnownPlacements known;
  private final PeerClients clients;
  private final LocalLookup local;
  private final HandoffDriver driver;
  private final Optional<DeadMembers> dead;
  private long readAt = System.nanoTime();

  CatalogSteps(
      ClusterConfig config,
      CatalogReplicas log,
      KnownPlacements known,
      PeerClients clients,
      LocalLookup local) {
    this.config = config;
    this.log = log;
    this.known = known;
    this.clients = clients;
    this.local = local;
    this.driver = new HandoffDriver(log, this::isWhole);
    this.dead =
        config.autoHandoffAfter().map(after -> new DeadMembers(log, after, System::nanoTime));
  }

  /**
   * Does what is due.
   *
   * @param open whether work with others may begin
   */
  void step(MemberSnapshot members, boolean open) {
    if (members.hosts().isPresent() && known.found(members.hosts().get())) {
      found(members.hosts().get());
    }
    if (!known.isFounded()) {
      return;
    }
    learn();
    if (open) {
      driver.step();
      dead.ifPresent(each -> each.step(members.members().keySet()));
    }
  }

  private void found(HostSet hosts) {
    LOG.info("catalog: founded by {} with {} replicas", hosts.hosts(), hosts.replicationFactor());
    for (int shard = 0; shard < CatalogShards.COUNT; shard++) {
      log.found(shard, KnownPlacements.founders(hosts, shard));
    }
  }

  private void learn() {
    boolean ask = System.nanoTime() - readAt >= 0;
    if (ask) {
      readAt = System.nanoTime() + READ_NANOS;
    }
    for (int shard = 0; shard < CatalogShards.COUNT; shard++) {
      Optional<CatalogView> view = log.local(shard);
      boolean mine = known.placement(shard).members().contains(config.node());
      if (view.isPresent() && view.get().placement() != null) {
        known.learn(view.get());
      }
      if (ask && (view.isEmpty() || !mine)) {
        log.learn(shard, known.placement(shard).members());
        var _ =
            log.read(shard)
                .thenAccept(
                    answer -> {
                      if (answer instanceof LogAnswer.Given<CatalogView>(CatalogView now)) {
                        known.learn(now);
                      }
                    });
      }
    }
  }

  private CompletableFuture<Boolean> isWhole(NodeId host, int shard, long generation) {
    Question question = new Question(shard, generation, NOTHING, 1);
    return host.equals(config.node())
        ? CompletableFuture.completedFuture(isWhole(local.answer(question)))
        : clients.ask(host, question, ASK).handle((answer, _) -> isWhole(answer));
  }

  private static boolean isWhole(Answer answer) {
    return answer instanceof Answer.Found(var _, boolean whole) && whole;
  }
}
