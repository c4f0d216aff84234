package io.orbitkv.chaos.sim;

import io.orbitkv.core.HostConfig;
import io.orbitkv.core.eviction.Eviction;
import java.util.ArrayList;
import java.util.List;

/**
 * What a seed is about: models, engines, bounds so small that everything collides, and which faults
 * there are.
 *
 * @param copyFaults whether pages of some engines fail
 * @param damage whether bits of the pool flip
 * @param crashes whether the process is killed
 */
record World(
    HostConfig config,
    List<SimEngine> engines,
    List<Deployment> deployments,
    boolean copyFaults,
    boolean damage,
    boolean crashes) {

  /**
   * The world of a seed.
   *
   * @param verify whether restores compare checksums, as they must
   */
  static World draw(long seed, boolean verify) {
    Draws draws = new Draws(Draws.mix(seed) ^ 0x0030_0121_D000L);
    List<Deployment> deployments = new ArrayList<>();
    List<SimEngine> engines = new ArrayList<>();
    int models = draws.between(1, 3);
    for (int m = 0; m < models; m++) {
      ModelPlan model = ModelPlan.draw(m, draws);
      int instances = draws.between(1, 2);
      for (int i = 0; i < instances; i++) {
        Deployment deployment = new Deployment("i" + m + i, model);
        deployments.add(deployment);
        for (int shard = 0; shard < model.shards(); shard++) {
          engines.add(new SimEngine(engines.size(), deployment, shard));
        }
      }
    }
    int granules = draws.oneIn(4) ? 200 : draws.between(10, 90);
    long budget = 512L * draws.between(6, 60);
    HostConfig config =
        HostConfig.forPool(512L * granules)
            .verify(verify)
            .eviction(draws.oneIn(5) ? Eviction.TINYLFU : Eviction.LRU)
            .globalBudgetBytes(budget * 2)
            .instanceBudgetBytes(budget)
            .leaseTtlMillis(draws.between(500, 4_000))
            .ticketMillis(draws.between(100, 900))
            .maxTicketMillis(1_500)
            .unsealedTtlMillis(draws.between(300, 2_000))
            .registerWaitMillis(draws.between(100, 600))
            .inlineCopyBytes(draws.oneIn(4) ? 200 : 0)
            .digestEveryFacts(draws.between(1, 60))
            .journalMissKeys(draws.between(0, 8))
            .maxSessions(draws.between(6, 16))
            .maxInstances(draws.between(3, 8))
            .maxTicketsPerSession(draws.between(1, 5))
            .maxLeasesPerSession(draws.between(2, 8))
            .maxWaitingRegistrations(draws.between(0, 4))
            .maxBlocksPerRequest(draws.between(12, 40))
            .maxCopiesInFlight(draws.between(2, 8))
            .build();
    return new World(
        config,
        List.copyOf(engines),
        List.copyOf(deployments),
        draws.oneIn(3),
        draws.oneIn(4),
        !draws.oneIn(4));
  }
}
