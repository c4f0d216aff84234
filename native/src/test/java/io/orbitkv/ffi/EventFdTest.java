package io.orbitkv.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EventFdTest {
  @Test
  void shouldCountSignals() throws Exception {
    try (EventFd event = EventFd.create()) {
      assertEquals(0, event.drain());
      event.signal();
      event.signal();
      event.signal();
      assertEquals(3, event.drain());
      assertEquals(0, event.drain());
    }
  }

  @Test
  void shouldTakeOneAtATimeFromASemaphore() throws Exception {
    try (EventFd event = EventFd.createSemaphore()) {
      event.signal();
      event.signal();
      assertEquals(1, event.drain());
      assertEquals(1, event.drain());
      assertEquals(0, event.drain());
    }
  }

  @Test
  void shouldTreatAFullCounterAsASignal() throws Exception {
    try (EventFd event = EventFd.create();
        Arena arena = Arena.ofConfined()) {
      MemorySegment most = arena.allocateFrom(ValueLayout.JAVA_LONG, -2);
      assertEquals(8, FileCalls.write(event.descriptor().fd(), most, 8));
      event.signal();
      assertEquals(-2, event.drain());
    }
  }

  @Test
  void shouldDrainWithoutWaitingWhatAPeerMadeBlock() throws Exception {
    try (EventFd event = EventFd.create();
        Arena arena = Arena.ofConfined()) {
      assertFalse(event.isFull());
      assertEquals(0, FileCalls.fcntl(event.descriptor().fd(), FileCalls.F_SETFL, 0));
      assertEquals(0, event.drainNoWait());
      MemorySegment most = arena.allocateFrom(ValueLayout.JAVA_LONG, -2);
      assertEquals(8, FileCalls.write(event.descriptor().fd(), most, 8));
      assertTrue(event.isFull());
      assertEquals(-2, event.drainNoWait());
      assertFalse(event.isFull());
    }
  }

  @Test
  void shouldTimeOut() throws Exception {
    try (EventFd event = EventFd.create()) {
      long start = System.nanoTime();
      assertFalse(event.await(TimeUnit.MILLISECONDS.toNanos(20)));
      assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(20));
      event.signal();
      assertTrue(event.await(0));
      assertEquals(1, event.drain());
    }
  }

  @Test
  void shouldWakeAnotherThread() throws Exception {
    try (EventFd event = EventFd.create()) {
      Thread signaller =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      Thread.sleep(20);
                      event.signal();
                    } catch (NativeException | InterruptedException failed) {
                      throw new AssertionError(failed);
                    }
                  });
      assertTrue(event.await(TimeUnit.SECONDS.toNanos(10)));
      signaller.join();
    }
  }

  @Test
  void shouldAdoptNothingButAnEventfd() throws Exception {
    try (Memfd memfd = Memfd.create("not an eventfd", 8)) {
      NativeException thrown =
          assertThrows(NativeException.class, () -> EventFd.adopt(memfd.descriptor()));
      assertEquals(Errno.EINVAL, thrown.errno());
      assertTrue(memfd.descriptor().isOpen());
    }
  }

  @Test
  void shouldReportAClosedDescriptor() throws Exception {
    EventFd event = EventFd.create();
    event.close();
    assertThrows(IllegalStateException.class, event::signal);
    assertThrows(IllegalStateException.class, event::drain);
  }
}
