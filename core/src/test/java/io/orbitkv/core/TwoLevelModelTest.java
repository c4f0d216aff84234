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

  @Test
  void shouldHitAsOftenAsTwoLists() {
    long seed = Long.getLong("seed", 4711);
    Random random = new Random(seed);
    FakeSsd ssd = new FakeSsd(1, 1, SSD_BLOCKS);
    TestLoop loop =
        TestLoop.withSsd(
            HostConfig.forPool((long) DRAM_BLOCKS * SsdExtents.ALIGNMENT_BYTES)
                .inlineCopyBytes(1 << 20)
                .globalBudgetBytes(1 << 30)
                .instanceBudgetBytes(1 << 30)
                .build(),
            new SsdSettings(SsdAdmission.ALL, 1 << 30, 1 << 30, 10_000, 1_000),
            ssd,
            new HostState(),
            new FakeClock());
    FakeBuffers buffers = FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES);
    long session = loop.open("engine", buffers);
    Model model = new Model();
    long hits = 0;
    for (int request = 0; request < 1_500; request++) {
      List<Integer> prompt = prompt(random);
      model.ask(prompt);
      int[] numbers = prompt.stream().mapToInt(Integer::intValue).toArray();
      TestLoop.Answers query = loop.query(session, "", QueryMode.WAIT, TestLoop.numbered(numbers));
      loop.drain();
      int found = 0;
      if (query.last() instanceof Reply.Ready ready) {
        found = ready.boundaryToken() / Formats.PAGE;
        loop.release(session, ready.leaseId());
      }
      hits += found;
      if (found < numbers.length) {
        int[] rest = Arrays.copyOfRange(numbers, found, numbers.length);
        loop.publishNow(session, "p", TestLoop.numbered(rest));
      }
      assertEquals(model.hits, hits, "request " + request + ", seed " + seed);
    }
    assertEquals(model.back, loop.state.totals().get(SsdCounter.LOADED_BLOCKS), "seed " + seed);
    assertTrue(model.back > 500, "the disk was needed: " + model.back);
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
