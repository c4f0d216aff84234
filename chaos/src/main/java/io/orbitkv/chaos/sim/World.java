package io.orbitkv.chaos.sim;

import io.orbitkv.core.HostConfig;
import io.orbitkv.core.eviction.Eviction;
import io.orbitkv.core.ssd.SsdSettings;
import io.orbitkv.core.ssd.SsdSettings.SsdAdmission;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

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
    boolean crashes,
    @Nullable Tier tier) {

  /**
   * An SSD tier.
   *
   * @param extents of 4 KiB that each file has room for
   * @param faulty whether operations fail, are short or leave torn sectors
   * @param damage whether bits flip on the disk and sectors are lost without a word
   * @param hangs whether nothing ends for some time
   * @param fills whether it has no room for some time
   */
  record Tier(
      SsdSettings settings,
      int files,
      int extents,
      boolean faulty,
      boolean damage,
      boolean hangs,
      boolean fills) {
    static Tier draw(Draws draws) {
      return new Tier(
          new SsdSettings(
              draws.oneIn(4) ? SsdAdmission.REUSE : SsdAdmission.ALL,
              4096L * draws.between(1, 40),
              4096L * draws.between(1, 40),
              draws.between(60, 400),
              draws.between(100, 800)),
          draws.between(1, 2),
          draws.oneIn(4) ? 100 : draws.between(2, 16),
          draws.oneIn(3),
          draws.oneIn(4),
          draws.oneIn(3),
          draws.oneIn(5));
    }
  }

  /** How long a query may be pending that asks for so long, 0 for no wish. */
  long waitMillis(long askedMillis) {
    return askedMillis == 0
        ? config.ticketMillis()
        : Math.min(askedMillis, config.maxTicketMillis());
  }

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
    Tier tier = draws.oneIn(4) ? null : Tier.draw(draws);
    int granuleBytes = tier == null ? 512 : 4096;
    if (tier != null) {
      granules = draws.oneIn(3) ? draws.between(10, 60) : draws.between(3, 10);
    }
    long budget = (long) granuleBytes * draws.between(6, 60);
    HostConfig config =
        HostConfig.forPool((long) granuleBytes * granules)
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
        !draws.oneIn(4),
        tier);
  }
}
