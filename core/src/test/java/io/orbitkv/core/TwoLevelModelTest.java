package io.orbitkv.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.ssd.SsdExtents;
import io.orbitkv.core.ssd.SsdSettings;
import io.orbitkv.core.ssd.SsdSettings.SsdAdmission;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Totals.SsdCounter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.SequencedSet;
import org.junit.jupiter.api.Test;

/**
 * The loop with its disk against two least-recently-used lists, one above the other: every block
 * goes to both, a hit moves it to the front of both and into the upper one, and a prefix may rest
 * on either.
 */
class TwoLevelModelTest {
  private static final int DRAM_BLOCKS = 40;
  private static final int SSD_BLOCKS = 160;

  private static final class Model {
    final LinkedHashSet<Integer> dram = new LinkedHashSet<>();
    final LinkedHashSet<Integer> ssd = new LinkedHashSet<>();
    long hits;
    long back;

    void ask(List<Integer> prompt) {
      int length = 0;
      while (length < prompt.size()
          && (dram.contains(prompt.get(length)) || ssd.contains(prompt.get(length)))) {
        length++;
      }
      hits += length;
      for (int block : prompt.subList(0, length)) {
        back += dram.contains(block) ? 0 : 1;
      }
      // What a query finds in the upper list stays there until the rest has come back.
      prompt.subList(0, length).stream()
          .filter(dram::contains)
          .toList()
          .forEach(block -> use(dram, block, DRAM_BLOCKS));
      prompt.subList(0, length).forEach(block -> use(dram, block, DRAM_BLOCKS));
      prompt.subList(0, length).forEach(block -> use(ssd, block, SSD_BLOCKS));
      publish(prompt.subList(length, prompt.size()));
    }

    /** What is in either list is used first, so that what is new does not push it out. */
    private void publish(List<Integer> blocks) {
      List<Integer> inDram = new ArrayList<>();
      for (int block : blocks) {
        if (dram.contains(block) || !ssd.contains(block)) {
          inDram.add(block);
        }
      }
      inDram.stream().filter(dram::contains).toList().forEach(b -> use(dram, b, DRAM_BLOCKS));
      blocks.stream().filter(ssd::contains).toList().forEach(b -> use(ssd, b, SSD_BLOCKS));
      inDram.forEach(block -> use(dram, block, DRAM_BLOCKS));
      blocks.forEach(block -> use(ssd, block, SSD_BLOCKS));
    }

    private static void use(SequencedSet<Integer> list, int block, int most) {
      list.remove(block);
      list.add(block);
      while (list.size() > most) {
        list.removeFirst();
      }
    }
  }

  private final long seed = Long.getLong("seed", 4711);
  private final FakeSsd ssd = new FakeSsd(1, 1, SSD_BLOCKS);
  private final Model model = new Model();

  private TestLoop loop(int writeQueueBlocks) {
    return TestLoop.withSsd(
        HostConfig.forPool((long) DRAM_BLOCKS * SsdExtents.ALIGNMENT_BYTES)
            .inlineCopyBytes(1 << 20)
            .globalBudgetBytes(1 << 30)
            .instanceBudgetBytes(1 << 30)
            .build(),
        new SsdSettings(
            SsdAdmission.ALL,
            (long) writeQueueBlocks * SsdExtents.ALIGNMENT_BYTES,
            1 << 30,
            10_000,
            1_000),
        ssd,
        new HostState(),
        new FakeClock());
  }

  @Test
  void shouldHitAsOftenAsTwoLists() {
    TestLoop loop = loop(10_000);
    play(loop, loop::drain);
    assertEquals(model.back, loop.state.totals().get(SsdCounter.LOADED_BLOCKS), "seed " + seed);
    assertTrue(model.back > 500, "the disk was needed: " + model.back);
  }

  /**
   * What is in DRAM besides differs then, since a block that is being written stays there; what can
   * be found in either does not.
   */
  @Test
  void shouldHitAsOftenWithADiskThatIsAlwaysBehind() {
    TestLoop loop = loop(8);
    int[] most = new int[1];
    play(
        loop,
        () -> {
          finish(loop, true, Integer.MAX_VALUE);
          finish(loop, false, 2);
          LiveTier tier = Objects.requireNonNull(loop.loop.decider().host().tier);
          most[0] = Math.max(most[0], tier.backlog.size());
          assertEquals(0, tier.skippedBlocks, "seed " + seed);
        });
    assertTrue(most[0] >= 10, "the disk was behind: " + most[0]);
  }

  private void finish(TestLoop loop, boolean reads, int most) {
    int index = 0;
    for (int left = most; left > 0 && index < ssd.running.size(); ) {
      if (ssd.running.get(index).isRead() == reads) {
        loop.finishSsd(index);
        left--;
      } else {
        index++;
      }
    }
  }

  /**
   * Plays requests one after the other.
   *
   * @param disk lets the disk move on after each step
   */
  private void play(TestLoop loop, Runnable disk) {
    Random random = new Random(seed);
    FakeBuffers buffers = FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES);
    long session = loop.open("engine", buffers);
    long hits = 0;
    for (int request = 0; request < 1_500; request++) {
      List<Integer> prompt = prompt(random);
      model.ask(prompt);
      int[] numbers = prompt.stream().mapToInt(Integer::intValue).toArray();
      TestLoop.Answers query = loop.query(session, "", QueryMode.WAIT, TestLoop.numbered(numbers));
      disk.run();
      int found = 0;
      if (query.last() instanceof Reply.Ready ready) {
        found = ready.boundaryToken() / Formats.PAGE;
        loop.release(session, ready.leaseId());
      }
      hits += found;
      if (found < numbers.length) {
        int[] rest = Arrays.copyOfRange(numbers, found, numbers.length);
        loop.publish(session, "p", 0, TestLoop.numbered(rest));
        loop.drainCopies();
        disk.run();
      }
      assertEquals(model.hits, hits, "request " + request + ", seed " + seed);
    }
    loop.drain();
    loop.checkIdle();
    loop.check(new HostState());
  }

  /** Prompts of some conversations, each a beginning and more of what follows. */
  private static List<Integer> prompt(Random random) {
    int conversation = (int) Math.abs(random.nextGaussian() * 12);
    int length = 1 + random.nextInt(14);
    List<Integer> prompt = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      prompt.add(conversation * 100 + i);
    }
    return prompt;
  }
}
