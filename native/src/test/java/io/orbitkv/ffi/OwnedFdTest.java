package io.orbitkv.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.api.Test;

class OwnedFdTest {
  @Test
  void shouldCloseOnce() throws Exception {
    OwnedFd fd = EventFd.create().descriptor();
    assertTrue(fd.isOpen());
    fd.close();
    fd.close();
    assertFalse(fd.isOpen());
    assertThrows(IllegalStateException.class, fd::fd);
    assertEquals("fd closed", fd.toString());
  }

  @Test
  void shouldSayThatAnotherOwnerClosedIt() throws Exception {
    // The number is far above those that the JVM's own threads are given meanwhile.
    OwnedFd fd = OwnedFd.adopt(15_000);
    IllegalStateException thrown = assertThrows(IllegalStateException.class, fd::close);
    NativeException cause = assertInstanceOf(NativeException.class, thrown.getCause());
    assertEquals(Errno.EBADF, cause.errno());
    assertEquals("close", cause.call());
  }

  @Test
  void shouldDuplicate() throws Exception {
    EventFd original = EventFd.create();
    EventFd copy = EventFd.adopt(original.descriptor().dup());
    assertNotEquals(original.descriptor().fd(), copy.descriptor().fd());
    original.signal();
    original.close();
    assertEquals(1, copy.drain());
    copy.close();
  }

  @Test
  void shouldGiveUpOwnership() throws Exception {
    OwnedFd fd = EventFd.create().descriptor();
    int number = fd.release();
    fd.close();
    assertThrows(IllegalStateException.class, fd::release);
    OwnedFd.adopt(number).close();
  }

  @Test
  void shouldKeepTheDescriptorCountOverTenThousandOpensAndCloses() throws Exception {
    cycle();
    long baseline = OpenFiles.count();
    for (int i = 0; i < 10_000; i++) {
      cycle();
    }
    assertEquals(baseline, OpenFiles.count());
  }

  private static void cycle() throws NativeException {
    List<UnixSocket> pair = UnixSocket.pair();
    try (Memfd memfd = Memfd.create("cycle", 4096);
        EventFd event = EventFd.create();
        Epoll epoll = Epoll.create();
        UnixSocket left = pair.getFirst();
        UnixSocket right = pair.getLast();
        Arena arena = Arena.ofConfined()) {
      epoll.add(event.descriptor(), Epoll.IN, 1);
      left.send(arena.allocateFrom("x"), List.of(memfd.descriptor(), event.descriptor()));
      Received.Data data =
          assertInstanceOf(Received.Data.class, right.receive(arena.allocate(2), 2));
      data.descriptors().forEach(OwnedFd::close);
    }
  }
}
