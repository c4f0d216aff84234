package io.orbitkv.core.ssd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.checksum.Checksum;
import io.orbitkv.core.ssd.device.FakeSsdDevice;
import io.orbitkv.core.ssd.device.FakeSsdDevice.Fate;
import io.orbitkv.core.ssd.device.SsdDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SsdDutyTest {
  private static final long EXTENT = 8192;
  private static final long[] LAYERS = {3000, 4000};
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment pool = arena.allocate(24L << 20, 4096);
  private final FakeSsdDevice device = new FakeSsdDevice(2, 16 << 20, pool, 8);
  private final SsdDuty duty = new SsdDuty(device, pool, () -> {});
  private final List<SsdTask> ended = new ArrayList<>();
  private final SliceShape shape = new SliceShape(LAYERS.clone());

  @AfterEach
  void close() {
    arena.close();
  }

  /** Fills an extent as a publish does, and answers its checksum. */
  private long fill(long offset, int seed) {
    for (long at = 0; at < EXTENT; at++) {
      pool.set(ValueLayout.JAVA_BYTE, offset + at, (byte) (seed * 31L + at * 7 + at / 256));
    }
    long first = Checksum.sum(pool, offset, LAYERS[0], 0);
    long second = Checksum.sum(pool, offset + 3008, LAYERS[1], 3008);
    pool.set(WORD, offset + 7040, first);
    pool.set(WORD, offset + 7048, second);
    return Checksum.finish(first + second, 7000);
  }

  private SsdTask task(boolean read, long fileOffset, long poolOffset, long... sums) {
    long[] ids = new long[sums.length];
    SsdTask.Slice[][] slices = new SsdTask.Slice[sums.length][];
    for (int i = 0; i < sums.length; i++) {
      ids[i] = i + 1L;
      slices[i] =
          new SsdTask.Slice[] {
            new SsdTask.Slice(
                0,
                fileOffset + i * EXTENT,
                poolOffset + i * EXTENT,
                (int) EXTENT,
                1,
                read ? new SsdTask.Proof(sums[i], shape) : null)
          };
    }
    return new SsdTask(1, read, ids, slices);
  }

  private SsdTask run(SsdTask task) {
    assertTrue(duty.submit(task));
    for (int step = 0; step < 100 && ended.isEmpty(); step++) {
      duty.doWork();
      duty.poll(ended::add, 10);
    }
    return ended.removeFirst();
  }

  @Test
  void shouldMoveNeighboursInOneOperationAndProveThem() {
    long[] sums = {fill(0, 1), fill(EXTENT, 2), fill(2 * EXTENT, 3)};
    assertEquals(-1, run(task(false, 4096, 0, sums)).firstFailure(2));
    assertEquals(1, device.history().size(), "side by side");
    SsdTask back = run(task(true, 4096, 1 << 20, sums));
    assertEquals(2, device.history().size());
    for (int block = 0; block < 3; block++) {
      assertEquals(-1, back.firstFailure(block));
      assertEquals(
          -1,
          pool.asSlice((1 << 20) + block * EXTENT, EXTENT)
              .mismatch(pool.asSlice(block * EXTENT, EXTENT)));
    }
  }

  @Test
  void shouldFindADamagedBlockAmongItsNeighbours() {
    long[] sums = {fill(0, 1), fill(EXTENT, 2), fill(2 * EXTENT, 3)};
    run(task(false, 4096, 0, sums));
    for (int at : new int[] {0, 2999, 3008, 7007, 7040, 7055}) {
      device.file(0)[4096 + (int) EXTENT + at] ^= 1;
      SsdTask back = run(task(true, 4096, 1 << 20, sums));
      device.file(0)[4096 + (int) EXTENT + at] ^= 1;
      assertEquals(SsdTask.DONE, back.result(0, 0));
      assertEquals(SsdTask.CHECKSUM, back.result(1, 0), "byte " + at);
      assertNotEquals(sums[1], back.sum(1, 0));
      assertEquals(SsdTask.DONE, back.result(2, 0));
    }
    assertEquals(6, duty.counters().mismatches());
  }

  @Test
  void shouldRepeatAFailedReadSliceBySlice() {
    long[] sums = {fill(0, 1), fill(EXTENT, 2), fill(2 * EXTENT, 3)};
    run(task(false, 4096, 0, sums));
    device.script(
        operation ->
            !operation.write()
                    && operation.fileOffset() <= 4096 + EXTENT
                    && operation.fileOffset() + operation.bytes() > 4096 + EXTENT
                ? new Fate.Failed(5)
                : new Fate.Done());
    SsdTask back = run(task(true, 4096, 1 << 20, sums));
    assertEquals(SsdTask.DONE, back.result(0, 0));
    assertEquals(5, back.result(1, 0));
    assertEquals(SsdTask.DONE, back.result(2, 0));
  }

  @Test
  void shouldTellShortTransfers() {
    device.script(operation -> new Fate.Part((int) EXTENT + 4096));
    SsdTask written = run(task(false, 4096, 0, 0, 0, 0));
    assertEquals(SsdTask.DONE, written.result(0, 0));
    assertEquals(SsdTask.SHORT, written.result(1, 0));
    assertEquals(SsdTask.SHORT, written.result(2, 0));
  }

  @Test
  void shouldCutASliceThatIsLongerThanAnOperation() {
    int bytes = 2 * SsdDevice.MAX_BYTES + 8192;
    SsdTask.Slice[][] slices = {{new SsdTask.Slice(1, 4096, 0, bytes, 1, null)}};
    pool.asSlice(0, bytes).fill((byte) 7);
    assertEquals(-1, run(new SsdTask(1, false, new long[] {1}, slices)).firstFailure(0));
    assertEquals(3, device.history().size());
    device.script(op -> op.number() == 5 ? new Fate.Failed(5) : new Fate.Done());
    assertEquals(5, run(new SsdTask(2, false, new long[] {1}, slices)).result(0, 0));
  }

  @Test
  void shouldNotBeginWhatWasStopped() {
    long[] sums = {fill(0, 1), fill(EXTENT, 2), fill(2 * EXTENT, 3)};
    run(task(false, 4096, 0, sums));
    int before = device.history().size();
    SsdTask stopped = task(true, 4096, 1 << 20, sums);
    stopped.stop();
    SsdTask back = run(stopped);
    assertEquals(before, device.history().size());
    for (int block = 0; block < 3; block++) {
      assertEquals(SsdTask.CANCELLED, back.result(block, 0));
    }
    assertEquals(-1, run(task(true, 4096, 1 << 20, sums)).firstFailure(0), "others go on");
  }

  @Test
  void shouldBeginReadsBeforeWrites() {
    device.script(operation -> new Fate.Hung(new Fate.Done()));
    for (int i = 0; i < 20; i++) {
      assertTrue(duty.submit(task(false, 4096 + i * 65536L, i * 65536L, 0)));
    }
    duty.doWork();
    assertEquals(4, device.history().size(), "writes have half of the depth");
    for (int i = 0; i < 20; i++) {
      assertTrue(duty.submit(task(true, 4096 + i * 65536L, i * 65536L, 0)));
    }
    duty.doWork();
    assertEquals(4, device.history().stream().filter(each -> !each.write()).count());
    for (int step = 0; step < 100; step++) {
      device.release();
      duty.doWork();
      duty.poll(ended::add, 100);
    }
    assertEquals(40, ended.size());
    assertEquals(0, device.inFlight());
  }
}
