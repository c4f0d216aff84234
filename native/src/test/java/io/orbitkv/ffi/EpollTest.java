package io.orbitkv.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EpollTest {
  private static final long SECONDS_10 = TimeUnit.SECONDS.toNanos(10);

  @Test
  void shouldReportWhichDescriptorsAreReady() throws Exception {
    try (Epoll epoll = Epoll.create();
        EventFd first = EventFd.create();
        EventFd second = EventFd.create();
        EventFd third = EventFd.create()) {
      EpollEvents events = new EpollEvents(8);
      epoll.add(first.descriptor(), Epoll.IN, 0x1122334455667788L);
      epoll.add(second.descriptor(), Epoll.IN, -2);
      epoll.add(third.descriptor(), Epoll.IN, 3);
      assertEquals(0, epoll.await(events, 0));
      first.signal();
      second.signal();
      assertEquals(2, epoll.await(events, SECONDS_10));
      Set<Long> ready = new HashSet<>();
      for (int i = 0; i < events.count(); i++) {
        assertEquals(Epoll.IN, events.events(i));
        ready.add(events.data(i));
      }
      assertEquals(Set.of(0x1122334455667788L, -2L), ready);
      assertThrows(IndexOutOfBoundsException.class, () -> events.data(2));
    }
  }

  @Test
  void shouldReportALevelUntilItIsDrained() throws Exception {
    try (Epoll epoll = Epoll.create();
        EventFd event = EventFd.create()) {
      EpollEvents events = new EpollEvents(1);
      epoll.add(event.descriptor(), Epoll.IN, 1);
      event.signal();
      assertEquals(1, epoll.await(events, 0));
      assertEquals(1, epoll.await(events, 0));
      event.drain();
      assertEquals(0, epoll.await(events, 0));
    }
  }

  @Test
  void shouldReportEverySignalOfAnUndrainedEdgeTriggeredEventfd() throws Exception {
    try (Epoll epoll = Epoll.create();
        EventFd event = EventFd.create()) {
      EpollEvents events = new EpollEvents(1);
      epoll.add(event.descriptor(), Epoll.IN | Epoll.ET, 1);
      for (int i = 0; i < 100; i++) {
        event.signal();
        assertEquals(1, epoll.await(events, SECONDS_10));
        assertEquals(0, epoll.await(events, 0));
      }
      assertEquals(100, event.drain());
    }
  }

  @Test
  void shouldModifyAndRemove() throws Exception {
    try (Epoll epoll = Epoll.create();
        EventFd event = EventFd.create()) {
      EpollEvents events = new EpollEvents(1);
      epoll.add(event.descriptor(), Epoll.IN | Epoll.ONESHOT, 1);
      NativeException twice =
          assertThrows(NativeException.class, () -> epoll.add(event.descriptor(), Epoll.IN, 1));
      assertEquals(Errno.EEXIST, twice.errno());
      event.signal();
      assertEquals(1, epoll.await(events, 0));
      assertEquals(0, epoll.await(events, 0));
      epoll.modify(event.descriptor(), Epoll.IN, 2);
      assertEquals(1, epoll.await(events, 0));
      assertEquals(2, events.data(0));
      epoll.remove(event.descriptor());
      assertEquals(0, epoll.await(events, 0));
      NativeException gone =
          assertThrows(NativeException.class, () -> epoll.remove(event.descriptor()));
      assertEquals(Errno.ENOENT, gone.errno());
    }
  }

  @Test
  void shouldReportThatThePeerIsGone() throws Exception {
    List<UnixSocket> pair = UnixSocket.pair();
    try (Epoll epoll = Epoll.create();
        UnixSocket left = pair.getFirst();
        Arena arena = Arena.ofConfined()) {
      EpollEvents events = new EpollEvents(1);
      epoll.add(left.descriptor(), Epoll.IN | Epoll.RDHUP, 1);
      pair.getLast().shutdownOutput();
      assertEquals(1, epoll.await(events, SECONDS_10));
      assertEquals(Epoll.IN | Epoll.RDHUP, events.events(0));
      pair.getLast().close();
      assertEquals(1, epoll.await(events, SECONDS_10));
      assertTrue((events.events(0) & Epoll.HUP) != 0);
      assertEquals(new Received.EndOfStream(), left.receive(arena.allocate(8), 0));
    }
  }

  @Test
  void shouldWaitAsLongAsAsked() throws Exception {
    try (Epoll epoll = Epoll.create()) {
      EpollEvents events = new EpollEvents(1);
      for (long nanos : new long[] {300_000, 2_000_000, 2_500_000}) {
        long start = System.nanoTime();
        assertEquals(0, epoll.await(events, nanos));
        assertTrue(System.nanoTime() - start >= nanos);
      }
    }
  }
}
