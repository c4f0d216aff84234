package io.orbitkv.core.copy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.ffi.cuda.CudaDevice;
import io.orbitkv.ffi.cuda.CudaException;
import io.orbitkv.ffi.cuda.FakeCuda;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A ring stepped by hand, with a clock and an engine in the test's hands. */
class StagingRingTest {
  private static final int BLOCKS = 12;
  private static final int SEGMENT_BYTES = 96 << 10;
  private static final int SLOT_BYTES = 1 << 20;
  private static final int SLOTS = 2;
  private static final long PATIENCE_NANOS = 1_000;

  /** An engine that answers when it is told to. */
  private static final class Engine implements SlotBoard {
    final List<Integer> posted = new ArrayList<>();
    final State[] states = new State[2 * SLOTS];

    Engine() {
      Arrays.fill(states, State.POSTED);
    }

    @Override
    public void entry(int slot, int index, int page, long slotOffset) {
      assertEquals(0, slotOffset % 64);
    }

    @Override
    public void post(int slot, Work work) {
      states[slot] = State.POSTED;
      posted.add(slot);
    }

    @Override
    public State poll(int slot) {
      return states[slot];
    }

    @Override
    public String failure(int slot) {
      return "told to";
    }

    @Override
    public long sum(int slot, int index) {
      return 0;
    }
  }

  private final FakeCuda cuda = new FakeCuda();
  private final Engine engine = new Engine();
  private final List<CopyTask> ended = new ArrayList<>();
  private final List<String> violations = new ArrayList<>();
  private final MemorySegment pool = Arena.ofAuto().allocate(8L << 20, 4096);
  private final GroupLayout layout =
      Objects.requireNonNull(
          GroupLayout.compile(
                  0,
                  List.of(
                      new LayerLayout(
                          0, 0, 0, 0, BLOCKS, SEGMENT_BYTES, 1, SEGMENT_BYTES, SEGMENT_BYTES),
                      new LayerLayout(
                          0,
                          1,
                          0,
                          (long) BLOCKS * SEGMENT_BYTES,
                          BLOCKS,
                          SEGMENT_BYTES,
                          1,
                          SEGMENT_BYTES,
                          SEGMENT_BYTES)),
                  new long[] {2L * BLOCKS * SEGMENT_BYTES})
              .layout());
  private final CudaDevice device = cuda.open(0);
  private long memory;
  private long nowNanos;
  private final StagingRing ring = ring();
  private final GpuLanes lanes = lanes();

  /** Only named: the test steps the ring itself. */
  private final GpuMover mover = mover();

  private StagingRing ring() {
    try {
      memory = device.allocate((long) SLOT_BYTES * 2 * SLOTS);
      return new StagingRing(
          device,
          engine,
          new StagingRing.Geometry(memory, SLOT_BYTES, SLOTS, SLOTS),
          () -> nowNanos,
          PATIENCE_NANOS);
    } catch (CudaException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private GpuLanes lanes() {
    try {
      return new GpuLanes(device, pool);
    } catch (CudaException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private GpuMover mover() {
    try {
      return new GpuMover(device, pool, 512, 4, ended::add);
    } catch (CudaException impossible) {
      throw new AssertionError(impossible);
    }
  }

  @BeforeEach
  void listen() {
    ring.onViolation(violations::add);
  }

  @AfterEach
  void shouldGiveEverythingBack() throws CudaException {
    ring.close();
    mover.close();
    lanes.close();
    device.free(memory);
    device.close();
    assertEquals(FakeCuda.NO_LEAKS, cuda.leaks());
  }

  private PublishCopy publish() {
    StagedBuffers buffers = buffers();
    PublishCopy copy = new PublishCopy(1, buffers, layout, pages(), offsets(), pool);
    ring.add(new StagedSave(copy, SLOT_BYTES, 512));
    return copy;
  }

  private RestoreCopy restore() {
    RestoreCopy copy =
        new RestoreCopy(
            2,
            buffers(),
            List.of(
                new RestoreCopy.GroupBlocks(
                    layout, pages(), offsets(), new long[BLOCKS], new long[BLOCKS])),
            pool,
            false,
            null);
    ring.add(new StagedLoad(copy, SLOT_BYTES, 512));
    return copy;
  }

  private StagedBuffers buffers() {
    return new StagedBuffers(Map.of(0, layout), mover, ring, () -> {}, _ -> {});
  }

  private static int[] pages() {
    int[] pages = new int[BLOCKS];
    Arrays.setAll(pages, i -> i);
    return pages;
  }

  private long[] offsets() {
    long[] offsets = new long[BLOCKS];
    long extent = (layout.extentBytes() + 511L) & -512;
    Arrays.setAll(offsets, i -> i * extent);
    return offsets;
  }

  private void step(int times) {
    for (int i = 0; i < times; i++) {
      ring.advance(lanes, ended::add);
    }
  }

  @Test
  void shouldFillTheNextSlotWhileOneIsScattered() {
    RestoreCopy copy = restore();
    step(10);
    assertEquals(List.of(0, 1), engine.posted, "both load slots are the engine's");
    assertEquals(List.of(), ended);
    for (int round = 0; round < 20 && ended.isEmpty(); round++) {
      Arrays.fill(engine.states, SlotBoard.State.DONE);
      step(10);
    }
    assertEquals(List.of(copy), ended);
    assertNull(copy.failure());
    assertEquals(0, ring.busySlots());
  }

  @Test
  void shouldCallAnEngineThatDoesNotServeAViolator() {
    PublishCopy copy = publish();
    step(2);
    nowNanos += PATIENCE_NANOS;
    step(2);
    assertEquals(List.of(), violations);
    nowNanos++;
    step(5);
    assertEquals(1, violations.size(), "it is said once");
    assertEquals(List.of(), ended, "its slots end with the session only");
    ring.engineGone();
    step(2);
    assertEquals(List.of(copy), ended);
    assertNotNull(copy.failure());
    assertNull(ring.undrained());
  }

  @Test
  void shouldWaitForPostedSlotsWhenCancelled() {
    RestoreCopy copy = restore();
    step(5);
    copy.cancel();
    step(5);
    assertEquals(List.of(), ended, "the engine may be scattering");
    Arrays.fill(engine.states, SlotBoard.State.DONE);
    step(5);
    assertEquals(List.of(copy), ended);
    assertEquals(2, engine.posted.size(), "nothing was posted after that");
  }

  @Test
  void shouldNotCallPostedSlotsOverWhileCopiesRun() {
    RestoreCopy copy = restore();
    cuda.hold();
    step(3);
    ring.engineGone();
    step(5);
    assertEquals(List.of(), ended, "copies into the ring are under way");
    cuda.release();
    step(10);
    assertEquals(List.of(copy), ended);
    assertTrue(engine.posted.isEmpty());
  }

  @Test
  void shouldKeepTheExtentsOfAPublishWhoseCopyFailed() {
    PublishCopy save = publish();
    RestoreCopy load = restore();
    step(3);
    cuda.failCopies();
    for (int round = 0; round < 5; round++) {
      Arrays.fill(engine.states, SlotBoard.State.DONE);
      step(5);
    }
    assertEquals(List.of(load), ended, "a restore only read the pool");
    assertNotNull(save.failure());
    assertNotNull(ring.undrained());
    assertTrue(lanes.broken());
  }
}
