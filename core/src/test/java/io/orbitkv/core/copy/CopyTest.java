package io.orbitkv.core.copy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.checksum.Checksum;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CopyTest {
  private static final int BLOCKS = 32;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment small = arena.allocate(2L * BLOCKS * 6_000 + BLOCKS * 3_000L);
  private final MemorySegment large = arena.allocate(64 + 2L * BLOCKS * 40_000);
  private final MemorySegment pool = arena.allocate(64L << 20, 64);

  /**
   * Keys and values apart, one layer in each buffer; and a block-first group whose segments end
   * inside a word.
   */
  private static List<LayerLayout> layers() {
    return List.of(
        new LayerLayout(0, 1, 0, 0, BLOCKS, 6_000, 2, BLOCKS * 6_000L, 6_000),
        new LayerLayout(0, 0, 1, 64, BLOCKS, 40_000, 2, BLOCKS * 40_000L, 40_000),
        new LayerLayout(1, 2, 0, 2L * BLOCKS * 6_000, BLOCKS, 3 * 999, 3, 999, 999));
  }

  private HostBuffers describe(List<LayerLayout> layers) {
    HostBuffers.Result result =
        HostBuffers.describe(List.of(small, large), layers, false, () -> {});
    assertNull(result.problem());
    assertNotNull(result.buffers());
    return result.buffers();
  }

  private static GroupLayout layout(HostBuffers buffers, int group) {
    GroupLayout layout = buffers.layout(group);
    assertNotNull(layout);
    return layout;
  }

  private void fill(long seed) {
    Random random = new Random(seed);
    for (MemorySegment buffer : List.of(small, large)) {
      byte[] bytes = new byte[(int) buffer.byteSize()];
      random.nextBytes(bytes);
      MemorySegment.copy(bytes, 0, buffer, ValueLayout.JAVA_BYTE, 0, bytes.length);
    }
  }

  /** One block's bytes, read one by one by the formula of {@link LayerLayout}. */
  private byte[] literalBlock(GroupLayout layout, int block) {
    byte[] bytes = new byte[(int) layout.payloadBytes()];
    int at = 0;
    for (int l = 0; l < layout.layerCount(); l++) {
      LayerLayout layer = layout.layer(l);
      MemorySegment buffer = layer.buffer() == 0 ? small : large;
      for (int s = 0; s < layer.segmentCount(); s++) {
        long from = layer.baseOffset() + block * layer.blockStride() + s * layer.segmentStride();
        for (int b = 0; b < layer.segmentBytes(); b++) {
          bytes[at++] = buffer.get(ValueLayout.JAVA_BYTE, from + b);
        }
      }
    }
    return bytes;
  }

  private PublishCopy publish(HostBuffers buffers, int group, int[] sources, long[] offsets) {
    return new PublishCopy(1, buffers, layout(buffers, group), sources, offsets, pool);
  }

  private RestoreCopy restore(
      HostBuffers buffers,
      PublishCopy published,
      int[] destinations,
      long[] offsets,
      RestoreCopy.@org.jspecify.annotations.Nullable LayerProgress progress) {
    long[] ids = new long[destinations.length];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = 100L + i;
    }
    return new RestoreCopy(
        2,
        buffers,
        List.of(
            new RestoreCopy.GroupBlocks(
                layout(buffers, 0), destinations, offsets, published.checksums(), ids)),
        pool,
        true,
        progress);
  }

  private static long[] offsets(int count, int extentBytes, long from) {
    long[] offsets = new long[count];
    for (int i = 0; i < count; i++) {
      offsets[i] = from + i * ((extentBytes + 511L) & -512);
    }
    return offsets;
  }

  @Test
  void shouldBringBackEveryByteToOtherBlocks() {
    HostBuffers buffers = describe(layers());
    for (boolean layered : new boolean[] {false, true}) {
      fill(layered ? 1 : 2);
      int[] sources = {3, 0, 31, 7};
      int[] destinations = {8, 9, 10, 30};
      List<RestoreCopy.GroupBlocks> groups = new ArrayList<>();
      List<byte[]> expected = new ArrayList<>();
      for (int group = 0; group < 2; group++) {
        GroupLayout layout = layout(buffers, group);
        long[] offsets = offsets(sources.length, layout.extentBytes(), group * (32L << 20));
        PublishCopy publish = publish(buffers, group, sources, offsets);
        publish.runHere();
        assertNull(publish.failure());
        groups.add(
            new RestoreCopy.GroupBlocks(
                layout, destinations, offsets, publish.checksums(), new long[] {1, 2, 3, 4}));
        for (int source : sources) {
          expected.add(literalBlock(layout, source));
        }
      }
      List<Integer> progress = new ArrayList<>();
      RestoreCopy restore =
          new RestoreCopy(2, buffers, groups, pool, true, layered ? progress::add : null);
      restore.runHere();
      assertNull(restore.failure());
      assertNull(restore.mismatch());
      int at = 0;
      for (int group = 0; group < 2; group++) {
        for (int destination : destinations) {
          assertArrayEquals(expected.get(at++), literalBlock(layout(buffers, group), destination));
        }
      }
      assertEquals(layered ? List.of(1, 2, 3) : List.of(), progress);
    }
  }

  @Test
  void shouldSumWhatLiesInTheExtentLayerByLayer() {
    HostBuffers buffers = describe(layers());
    fill(3);
    GroupLayout layout = layout(buffers, 0);
    PublishCopy publish = publish(buffers, 0, new int[] {5}, new long[] {4_096});
    publish.runHere();
    long total = 0;
    for (int l = 0; l < layout.layerCount(); l++) {
      int offset = layout.layerOffset(l);
      long sum = Checksum.sum(pool, 4_096L + offset, layout.layer(l).blockBytes(), offset);
      assertEquals(sum, pool.get(PublishCopy.SUM, 4_096L + layout.trailerOffset() + 8L * l));
      total += sum;
    }
    assertEquals(Checksum.finish(total, layout.payloadBytes()), publish.checksums()[0]);
  }

  @Test
  void shouldCopyAndSumAlikeWhetherItStreamsOrNot() {
    HostBuffers buffers = describe(layers());
    fill(5);
    GroupLayout layout = layout(buffers, 0);
    int[] sources = IntStream.range(0, BLOCKS).toArray();
    PublishCopy plain = publish(buffers, 0, sources, offsets(BLOCKS, layout.extentBytes(), 0));
    plain.runHere();
    int[] twice = IntStream.range(0, 2 * BLOCKS).map(i -> i % BLOCKS).toArray();
    long[] offsets = offsets(2 * BLOCKS, layout.extentBytes(), 8L << 20);
    PublishCopy streamed = publish(buffers, 0, twice, offsets);
    assertFalse(plain.streaming());
    assertTrue(streamed.streaming());
    streamed.runHere();
    assertNull(streamed.failure());
    byte[] before = small.toArray(ValueLayout.JAVA_BYTE);
    byte[] beforeLarge = large.toArray(ValueLayout.JAVA_BYTE);
    for (int i = 0; i < 2 * BLOCKS; i++) {
      assertEquals(plain.checksums()[i % BLOCKS], streamed.checksums()[i], "block " + i);
    }
    small.asSlice(0, 2L * BLOCKS * 6_000).fill((byte) 0);
    large.asSlice(64).fill((byte) 0);
    RestoreCopy restore = restore(buffers, streamed, twice, offsets, null);
    assertTrue(restore.streaming());
    restore.runHere();
    assertNull(restore.failure());
    assertNull(restore.mismatch());
    assertArrayEquals(before, small.toArray(ValueLayout.JAVA_BYTE));
    assertArrayEquals(beforeLarge, large.toArray(ValueLayout.JAVA_BYTE));
  }

  @Test
  void shouldNameTheBlockThatWasDamagedWhereverTheDamageLies() {
    HostBuffers buffers = describe(layers());
    fill(4);
    GroupLayout layout = layout(buffers, 0);
    long[] offsets = offsets(2, layout.extentBytes(), 0);
    PublishCopy publish = publish(buffers, 0, new int[] {1, 2}, offsets);
    publish.runHere();
    Random random = new Random(5);
    for (int round = 0; round < 200; round++) {
      int layer = random.nextInt(layout.layerCount());
      long at =
          offsets[1]
              + layout.layerOffset(layer)
              + random.nextInt((int) layout.layer(layer).blockBytes());
      byte before = pool.get(ValueLayout.JAVA_BYTE, at);
      pool.set(ValueLayout.JAVA_BYTE, at, (byte) (before ^ (1 << random.nextInt(8))));
      RestoreCopy restore =
          restore(
              buffers, publish, new int[] {20, 21}, offsets, round % 2 == 0 ? layers -> {} : null);
      restore.runHere();
      pool.set(ValueLayout.JAVA_BYTE, at, before);
      RestoreCopy.Mismatch mismatch = restore.mismatch();
      assertNotNull(mismatch, "seed 5, round " + round);
      assertEquals(101, mismatch.blockId());
    }
  }

  @Test
  void shouldReportNoLayerInPlaceBeforeItWasVerified() {
    HostBuffers buffers = describe(layers());
    fill(6);
    GroupLayout layout = layout(buffers, 0);
    long[] offsets = {0};
    PublishCopy publish = publish(buffers, 0, new int[] {1}, offsets);
    publish.runHere();
    long damaged = layout.layerOffset(1) + 17L;
    pool.set(ValueLayout.JAVA_BYTE, damaged, (byte) (pool.get(ValueLayout.JAVA_BYTE, damaged) ^ 1));
    List<Integer> progress = new ArrayList<>();
    RestoreCopy restore = restore(buffers, publish, new int[] {2}, offsets, progress::add);
    restore.runHere();
    assertNotNull(restore.mismatch());
    assertEquals(List.of(1), progress);
  }

  @Test
  void shouldEndEachTaskOnceOnWorkersAndBoundThem() throws InterruptedException {
    HostBuffers buffers = describe(layers());
    fill(7);
    int extentBytes = layout(buffers, 0).extentBytes();
    int[] sources = IntStream.range(0, BLOCKS).toArray();
    CountDownLatch woken = new CountDownLatch(20);
    try (CopyWorkers workers = new CopyWorkers(2, 20, woken::countDown)) {
      List<PublishCopy> submitted = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        PublishCopy copy =
            publish(buffers, 0, sources, offsets(BLOCKS, extentBytes, i % 10 * (6L << 20)));
        submitted.add(copy);
        assertTrue(workers.submit(copy));
      }
      assertFalse(workers.submit(publish(buffers, 0, sources, offsets(BLOCKS, extentBytes, 0))));
      assertTrue(woken.await(10, TimeUnit.SECONDS));
      List<CopyTask> ended = new ArrayList<>();
      assertEquals(20, workers.poll(ended::add, 100));
      assertEquals(0, workers.inFlight());
      assertEquals(20, ended.stream().distinct().count());
      for (PublishCopy copy : submitted) {
        assertArrayEquals(submitted.getFirst().checksums(), copy.checksums());
      }
    }
  }

  @Test
  void shouldEndACancelledTaskWithoutCopying() {
    HostBuffers buffers = describe(layers());
    PublishCopy copy = publish(buffers, 0, new int[] {1, 2, 3}, new long[] {0, 1 << 20, 2 << 20});
    copy.cancel();
    copy.runHere();
    assertTrue(copy.cancelled());
    assertArrayEquals(new long[3], copy.checksums());
  }

  @Test
  void shouldRefuseALayoutThatCannotBeNamingTheField() {
    LayerLayout good = new LayerLayout(0, 0, 0, 0, 4, 100, 1, 0, 100);
    assertProblem("layers[0].buffer", new LayerLayout(0, 0, 2, 0, 4, 100, 1, 0, 100));
    assertProblem("layers[0].baseOffset", new LayerLayout(0, 0, 0, -1, 4, 100, 1, 0, 100));
    assertProblem("layers[0].blockCount", new LayerLayout(0, 0, 0, 0, 0, 100, 1, 0, 100));
    assertProblem("layers[0].blockStride", new LayerLayout(0, 0, 0, 0, 4, 99, 1, 0, 100));
    assertProblem("layers[0].blockStride", new LayerLayout(0, 0, 0, 0, 4, 150, 2, 75, 76));
    assertProblem(
        "layers[0].blockStride", new LayerLayout(0, 0, 0, 0, 1 << 20, 1 << 20, 1, 0, 100));
    assertProblem(
        "layers[0].blockStride",
        new LayerLayout(0, 0, 0, Long.MAX_VALUE, 4, Long.MAX_VALUE, 1, 0, 1));
    assertProblem("layers[0].layer", good, good);
    assertProblem("layers[1].blockCount", good, new LayerLayout(0, 1, 1, 0, 5, 100, 1, 0, 100));
  }

  private void assertProblem(String field, LayerLayout... layers) {
    HostBuffers.Result result =
        HostBuffers.describe(List.of(small, large), List.of(layers), false, () -> {});
    assertNotNull(result.problem(), field);
    assertEquals(field, result.problem().field());
  }
}
