package io.orbitkv.core.file;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class FirstPageTest {
  private static final FirstPage.Kind KIND = new FirstPage.Kind(0x5453_4554L, 3, 60);

  private final MemorySegment file = Arena.ofAuto().allocate(2L * FirstPage.BYTES, 8);

  private FirstPage<Long> read() {
    return KIND.read(file, page -> page.get(FirstPage.LONG, 16));
  }

  private void write(long value) {
    KIND.begin(file);
    file.set(FirstPage.LONG, 16, value);
    KIND.seal(file);
  }

  @Test
  void shouldReadWhatWasWrittenAndNotTouchWhatLiesBehind() {
    file.fill((byte) 0x5A);
    assertEquals(new FirstPage.Foreign<>(), read());
    write(7);
    write(8);
    assertEquals(new FirstPage.Valid<>(8L), read());
    for (long at = FirstPage.BYTES; at < file.byteSize(); at++) {
      assertEquals(0x5A, file.get(ValueLayout.JAVA_BYTE, at), "byte " + at);
    }
  }

  @Test
  void shouldFindEveryFlippedBitOfWhatIsChecked() {
    write(7);
    for (int at = 8; at < 64; at++) {
      for (int bit = 0; bit < 8; bit++) {
        byte right = file.get(ValueLayout.JAVA_BYTE, at);
        file.set(ValueLayout.JAVA_BYTE, at, (byte) (right ^ 1 << bit));
        assertEquals(new FirstPage.Unusable<>("its header is damaged"), read());
        file.set(ValueLayout.JAVA_BYTE, at, right);
      }
    }
    assertEquals(new FirstPage.Valid<>(7L), read());
  }

  @Test
  void shouldNameAnotherVersion() {
    FirstPage.Kind later = new FirstPage.Kind(KIND.magic(), 4, KIND.checkedBytes());
    later.begin(file);
    later.seal(file);
    assertEquals(new FirstPage.Unusable<>("its format is version 4, not 3"), read());
  }
}
