package io.orbitkv.client.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StepRunsTest {
  @Test
  void shouldWriteEqualStepsAsOneRun() {
    assertEquals(0, StepRuns.count(IntRun.EMPTY));
    assertEquals(1, StepRuns.count(IntRun.range(16, 2_048)));
    assertEquals(1, StepRuns.count(IntRun.of(7)));
    assertEquals(2, StepRuns.count(IntRun.of(1, 2, 3, 10, 20)));
    assertEquals(2, StepRuns.count(IntRun.of(1, 5, 6)));
  }

  @Test
  void shouldReadWhatIsWritten() {
    for (IntRun numbers :
        List.of(
            IntRun.EMPTY,
            IntRun.of(0),
            IntRun.of(0, 1),
            IntRun.of(3, 6, 9, 10),
            IntRun.of(0, 5, 6, 100, 1 << 24),
            IntRun.steps(16, 16, 999))) {
      byte[] bytes = new byte[StepRuns.RUN_BYTES * StepRuns.count(numbers)];
      StepRuns.write(numbers, new WireWriter(MemorySegment.ofArray(bytes)));
      assertEquals(
          numbers,
          StepRuns.read(
              new WireReader(bytes, bytes.length), StepRuns.count(numbers), numbers.size()));
      assertEquals(numbers.hashCode(), IntRun.of(numbers.toArray()).hashCode());
      assertEquals(numbers, IntRun.of(numbers.toArray()));
    }
  }

  @Test
  void shouldRefuseRunsThatAreNotWrittenSo() {
    assertNull(read(3, 4, 4, 2), "one number is missing");
    assertNull(read(1, 4, 4, 2), "one number too many");
    assertNull(read(0, 4, 4, 0), "a run of none");
    assertNull(read(2, 4, 0, 2), "the same number twice");
    assertNull(read(1, 4, 4, 1), "a step that is not made");
    assertNull(read(3, 4, 4, 2, 8, 0, 1), "a run that begins where the last one ended");
    assertNull(read(2, 4, 1 << 24, 2), "a number above the highest token");
    assertNull(read(2, -1, 1, 2), "a number above the highest token");
    assertNull(read(Integer.MAX_VALUE, 0, 1, Integer.MAX_VALUE), "more numbers than tokens");
  }

  private static @Nullable IntRun read(int total, int... fields) {
    ByteBuffer bytes = ByteBuffer.allocate(4 * fields.length).order(ByteOrder.LITTLE_ENDIAN);
    for (int field : fields) {
      bytes.putInt(field);
    }
    return StepRuns.read(new WireReader(bytes.array(), bytes.capacity()), fields.length / 3, total);
  }
}
