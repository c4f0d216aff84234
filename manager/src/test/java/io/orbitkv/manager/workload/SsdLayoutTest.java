package io.orbitkv.manager.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.manager.workload.SegmentLog.Cleaning;
import io.orbitkv.manager.workload.SsdLayout.Played;
import io.orbitkv.manager.workload.SsdLayout.Sizes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The two layouts of an SSD tier beside each other, which decision 11 rests on: extents that stay,
 * and a log of segments. Prints write amplification, use of the capacity and hits.
 */
class SsdLayoutTest {
  private static final int SEGMENT_BYTES = 64 << 20;
  private static final int BLOCK_BYTES = 1 << 20;

  /** Blocks of one length, as one model gives them: a payload and the sums behind it. */
  private static final Sizes ONE = _ -> BLOCK_BYTES - 4096 + 1600;

  /** Three lengths: attention, a sliding window, a recurrent state. */
  private static final Sizes THREE =
      block ->
          switch ((int) (Mixing.mix(block) & 7)) {
            case 0 -> 272_000;
            case 1, 2 -> 523_000;
            default -> BLOCK_BYTES - 2_496;
          };

  private record Row(Played played, double amplification, double use) {}

  private static Row play(SsdLayout layout, Trace trace, Sizes sizes, long capacity) {
    Played played = layout.play(trace, sizes);
    return new Row(
        played,
        (double) layout.writtenBytes() / played.payloadBytes(),
        (double) layout.peakLiveBytes() / capacity);
  }

  /** What the extents came to, and each other layout. */
  private record Compared(Row extents, Map<String, Row> others) {}

  private static Compared compare(String what, Trace trace, Sizes sizes, int blocks) {
    long capacity = (long) blocks * BLOCK_BYTES / SEGMENT_BYTES * SEGMENT_BYTES;
    Map<String, Row> rows = new LinkedHashMap<>();
    Row extents = play(new ExtentLayout(capacity), trace, sizes, capacity);
    for (double fill : new double[] {0.95, 0.9, 0.8, 0.7}) {
      rows.put(
          "log, %.0f %% live".formatted(fill * 100),
          play(
              new SegmentLog(capacity, SEGMENT_BYTES, fill, Cleaning.COPY),
              trace,
              sizes,
              capacity));
    }
    rows.put(
        "ring",
        play(
            new SegmentLog(capacity, SEGMENT_BYTES, 1, Cleaning.DROP_OLDEST),
            trace,
            sizes,
            capacity));
    System.out.printf(
        "%s, %,d MiB: written for each byte of payload, most payload at one time, blocks hit%n",
        what, capacity >> 20);
    print("extents", extents);
    rows.forEach(SsdLayoutTest::print);
    return new Compared(extents, rows);
  }

  private static void print(String name, Row row) {
    System.out.printf(
        "  %-14s %5.3f %5.1f %% %,8d%n", name, row.amplification, row.use * 100, row.played.hits());
  }

  private static void assertExtentsWin(Compared compared) {
    Row extents = compared.extents;
    assertTrue(extents.amplification < 1.02, "only padding: " + extents);
    assertTrue(extents.use > 0.9, "little is lost between extents: " + extents);
    compared.others.forEach(
        (name, row) ->
            assertTrue(
                row.amplification > 1.5 * extents.amplification
                    || row.played.hits() < 0.996 * extents.played.hits(),
                name + " writes little more and hits as much: " + row));
  }

  @Test
  void shouldWriteLessAndHoldMoreInExtentsThanInALog() {
    Trace trace = Conversations.trace(11, 1_200);
    assertExtentsWin(compare("conversations, one length", trace, ONE, 4_096));
    assertExtentsWin(compare("conversations, three lengths", trace, THREE, 4_096));
  }

  /** The conversation trace, where it lies beside the repository. */
  @Test
  void shouldWriteLessAndHoldMoreOnTheConversationTrace() {
    Path file = ReferenceTraceTest.file();
    if (!Files.exists(file)) {
      System.out.println("skipped: no trace at " + file);
      return;
    }
    Trace trace = TraceFile.read(file, Integer.MAX_VALUE);
    Compared one = compare("conversation trace, one length", trace, ONE, 20_032);
    assertExtentsWin(one);
    assertEquals(new LruModel(20_032).play(trace), one.extents.played.hits(), "an exact LRU");
    assertExtentsWin(compare("conversation trace, three lengths", trace, THREE, 20_032));
  }
}
