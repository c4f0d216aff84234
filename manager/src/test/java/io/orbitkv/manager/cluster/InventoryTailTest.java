package io.orbitkv.manager.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.catalog.inventory.Fingerprint;
import io.orbitkv.catalog.inventory.InventorySource;
import io.orbitkv.catalog.inventory.OwnInventory;
import io.orbitkv.catalog.inventory.RowBatch;
import io.orbitkv.catalog.inventory.Tier;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.core.Command;
import io.orbitkv.core.Inspection;
import io.orbitkv.manager.Engine;
import io.orbitkv.manager.RunningDaemon;
import io.orbitkv.manager.config.Setting;
import io.orbitkv.state.HostState;
import io.orbitkv.state.catalog.CatalogShards;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the tail makes of a journal, against the state of the daemon that writes it. */
class InventoryTailTest {
  private static final int RUNS = 60;
  private static final int BLOCKS = 32;

  @TempDir private Path folder;

  @Test
  void shouldHaveWhatTheLiveStateHas() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Map<Setting, String> settings = new EnumMap<>(Setting.class);
    settings.put(Setting.POOL_SIZE, "2mb");
    settings.put(Setting.SSD_CACHE_PATH, folder.resolve("ssd").toString());
    settings.put(Setting.SSD_CACHE_CAPACITY, "3mb");
    settings.put(Setting.SSD_BACKEND, "posix");
    Random random = new Random(seed);
    try (RunningDaemon running = new RunningDaemon(folder, settings);
        Engine engine = new Engine(running.clientOptions(), "engine")) {
      publish(engine, random, RUNS / 2);
      CountDownLatch whole = new CountDownLatch(1);
      try (InventoryTail tail =
          new InventoryTail(
              running.daemon().config().journalDir(), () -> position(running), whole::countDown)) {
        tail.start();
        assertTrue(whole.await(60, TimeUnit.SECONDS), "it becomes whole");
        assertFalse(rows(tail.inventory()).isEmpty());
        publish(engine, random, RUNS / 2);
        assertEquals(settled(running, tail), rows(tail.inventory()), "seed " + seed);
      }
    }
  }

  private static void publish(Engine engine, Random random, int runs) {
    for (int run = 0; run < runs; run++) {
      KeyRun keys = Engine.keys(random.nextInt(RUNS), BLOCKS);
      engine.client.publish(Engine.publish("r" + run, keys, 0));
    }
  }

  private static long position(RunningDaemon running) {
    return running
        .daemon()
        .loop()
        .ask(
            sink -> new Command.Inspect(new Inspection.Status(), sink),
            _ -> running.daemon().stateOnLoop().position(),
            Duration.ofSeconds(10))
        .orElseThrow();
  }

  /** The rows of the state, once the tail has come to a position at which nothing happens. */
  private static Set<String> settled(RunningDaemon running, InventoryTail tail)
      throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (System.nanoTime() < deadline) {
      long before = position(running);
      Set<String> rows =
          running
              .daemon()
              .loop()
              .ask(
                  sink -> new Command.Inspect(new Inspection.Status(), sink),
                  _ -> rows(running.daemon().stateOnLoop()),
                  Duration.ofSeconds(10))
              .orElseThrow();
      Thread.sleep(300);
      if (position(running) == before && tail.inventory().position() == before) {
        return rows;
      }
    }
    throw new AssertionError("the tail stays at " + tail.inventory().position());
  }

  private static Set<String> rows(HostState state) {
    Set<String> rows = new TreeSet<>();
    state.forEachBlock(
        slot -> {
          for (Tier tier : Tier.values()) {
            long generation = ReadableBlocks.generation(state, slot, tier);
            if (generation != ReadableBlocks.NONE) {
              Fingerprint key = Fingerprint.of(ReadableBlocks.key(state, slot));
              rows.add("%s %s %d".formatted(key, tier, generation));
            }
          }
        });
    return rows;
  }

  private static Set<String> rows(OwnInventory inventory) {
    Set<String> rows = new TreeSet<>();
    for (int shard = 0; shard < CatalogShards.COUNT; shard++) {
      InventorySource.Snapshot snapshot = inventory.snapshot(shard);
      while (snapshot.batches().hasNext()) {
        RowBatch batch = snapshot.batches().next();
        for (int i = 0; i < batch.size(); i++) {
          rows.add(
              "%s %s %d"
                  .formatted(
                      new Fingerprint(batch.high(i), batch.low(i)),
                      Tier.ofCode(batch.tier(i)),
                      batch.generation(i)));
        }
      }
    }
    return rows;
  }
}
