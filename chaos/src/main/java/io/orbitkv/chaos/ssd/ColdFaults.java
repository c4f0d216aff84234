package io.orbitkv.chaos.ssd;

import io.orbitkv.chaos.Daemons;
import io.orbitkv.chaos.crash.Load;
import io.orbitkv.chaos.disk.Tmpfs;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.journal.Replayer;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.workload.BlockPattern;
import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * What becomes of a cache between two runs of the daemon: bits of some blocks are flipped, and
 * exactly those are lost; its header is flipped, and all is lost and said; there is no room for a
 * new one, and the daemon says so instead of starting.
 */
final class ColdFaults {
  private static final int BLOCKS = 256;
  private static final int DAMAGED = 20;
  private static final int BATCH = 16;
  private static final int HEADER_TIER_ID = 24;
  private static final long WRITTEN_MILLIS = 15_000;
  private static final int SMALL_MEBIBYTES = 8;

  private final Daemons daemons;
  private final Path dir;
  private final Path cache;
  private final Random random;

  private ColdFaults(Daemons daemons, Path dir, Random random) {
    this.daemons = daemons;
    this.dir = dir;
    this.cache = dir.resolve("cache.ssd");
    this.random = random;
  }

  /**
   * What was done and seen.
   *
   * @param sound blocks on SSD that nobody touched, all restored after a restart
   * @param damaged blocks of which a bit was flipped, none of them found
   * @param header what the daemon said of a damaged header
   * @param full what it said of a disk without room
   */
  record Report(int sound, int damaged, String header, String full) {}

  static Report run(Daemons daemons, Path dir, Random random)
      throws IOException, InterruptedException {
    return new ColdFaults(daemons, dir, random).run();
  }

  private Report run() throws IOException, InterruptedException {
    ManagerProcess manager = daemons.start(dir, SsdFaultSuite.flags(cache));
    try {
      fill(manager);
      manager.kill();
      List<Long> sound = new ArrayList<>();
      for (long block = 0; block < BLOCKS; block++) {
        sound.add(block);
      }
      Collections.shuffle(sound, random);
      List<Long> damaged = new ArrayList<>(sound.subList(0, DAMAGED));
      sound.removeAll(damaged);
      damage(manager, damaged);
      manager = daemons.start(dir, SsdFaultSuite.flags(cache));
      findAllButDamaged(manager, sound, damaged);
      manager.kill();
      CacheFile.flip(cache, HEADER_TIER_ID, 0);
      manager = daemons.start(dir, SsdFaultSuite.flags(cache));
      String header = findNothing(manager, sound);
      fill(manager);
      manager.close();
      return new Report(sound.size(), damaged.size(), header, startWithoutRoom());
    } finally {
      manager.close();
    }
  }

  /** Publishes the blocks and waits until all lie on SSD. */
  private static void fill(ManagerProcess manager) throws IOException, InterruptedException {
    try (Engine engine = Engine.connect(manager.socket(), Load.shape("cold"), false)) {
      for (long first = 0; first < BLOCKS; first += BATCH) {
        for (int i = 0; i < BATCH; i++) {
          engine.fill(i, first + i);
        }
        PublishRequest request =
            new PublishRequest(0, "cold", engine.keys(first, BATCH), IntRun.range(0, BATCH));
        if (!(engine.client().publish(request) instanceof PublishResult.Published)) {
          throw new AssertionError("a publish was refused by a daemon with nothing else to do");
        }
      }
    }
    TierProbe probe = new TierProbe(manager);
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(WRITTEN_MILLIS);
    while (probe.figure("blocks") < BLOCKS) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError(
            "%d of %d blocks lie on SSD".formatted(probe.figure("blocks"), BLOCKS));
      }
      Thread.sleep(10);
    }
  }

  /** Flips one bit of each block where the journal says that it lies. */
  private void damage(ManagerProcess dead, List<Long> blocks) throws IOException {
    HostState state = fold(dead);
    Map<String, Long> places = new HashMap<>();
    state.forEachBlock(
        slot -> {
          if (state.onSsd(slot)) {
            byte[] key = new byte[state.keyBytes(slot)];
            state.copyKey(slot, key, 0);
            places.put(HexFormat.of().formatHex(key), state.ssdOffset(slot, 0));
          }
        });
    byte[] key = new byte[BlockPattern.KEY_BYTES];
    int blockBytes = Load.shape("cold").blockBytes();
    for (long block : blocks) {
      BlockPattern.key(0, block, key, 0);
      Long place = places.get(HexFormat.of().formatHex(key));
      if (place == null) {
        throw new AssertionError("block " + block + " was on SSD and is not in the journal");
      }
      CacheFile.flip(cache, place + random.nextInt(blockBytes), random.nextInt(Byte.SIZE));
    }
  }

  private void findAllButDamaged(ManagerProcess manager, List<Long> sound, List<Long> damaged)
      throws IOException {
    try (SsdAudit audit = new SsdAudit(manager.socket())) {
      audit.expectHits(sound);
      audit.expectMisses(damaged);
      audit.expectMisses(damaged);
    }
    long failures = new TierProbe(manager).figure("verifyFailures");
    if (failures != damaged.size()) {
      throw new AssertionError(
          "%d blocks were damaged, %d are reported".formatted(damaged.size(), failures));
    }
  }

  private String findNothing(ManagerProcess manager, List<Long> blocks) throws IOException {
    long lost = fold(manager).totals().loadsFailed(LoadFailure.CHECKSUM);
    if (lost != DAMAGED) {
      throw new AssertionError(DAMAGED + " blocks were damaged, the journal has " + lost);
    }
    try (SsdAudit audit = new SsdAudit(manager.socket())) {
      audit.expectMisses(blocks);
    }
    String said = "its header is damaged";
    if (!Files.readString(manager.log()).contains(said)) {
      throw new AssertionError("a damaged header is not reported; see " + manager.log());
    }
    return said;
  }

  private static HostState fold(ManagerProcess manager) throws IOException {
    Replay replay =
        Replayer.run(JournalReader.open(manager.journal()), ReplayOptions.VERIFY, ReplayHooks.NONE);
    if (!replay.clean()) {
      throw new AssertionError("the journal does not fold: " + replay);
    }
    return replay.state();
  }

  private String startWithoutRoom() throws InterruptedException, IOException {
    Path at = Files.createDirectory(dir.resolve("small"));
    try (Tmpfs small = Tmpfs.mount(at, SMALL_MEBIBYTES)) {
      Path log = Files.createDirectory(dir.resolve("full"));
      try (ManagerProcess _ = daemons.start(log, SsdFaultSuite.flags(small.path()))) {
        throw new AssertionError("16 MiB were reserved on a disk of 8 MiB");
      } catch (Failure refused) {
        String said = Files.readString(log.resolve("manager.log"));
        if (!said.contains("and its disk has ") || !said.contains("lower the tier's capacity")) {
          throw new AssertionError("a full disk is not the reason given: " + said, refused);
        }
        return "refused to start";
      }
    } catch (IOException cannotMount) {
      return "not tried: " + cannotMount.getMessage();
    }
  }
}
