package io.orbitkv.ffi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class UnixSocketTest {
  private static final long SECONDS_10 = TimeUnit.SECONDS.toNanos(10);

  private final Arena arena = Arena.ofConfined();
  private UnixSocket left;
  private UnixSocket right;
  private long descriptorsBefore;

  UnixSocketTest() throws IOException {
    descriptorsBefore = OpenFiles.count();
    List<UnixSocket> pair = UnixSocket.pair();
    left = pair.getFirst();
    right = pair.getLast();
  }

  @BeforeEach
  void shouldHaveOpenedTwo() throws IOException {
    assertEquals(descriptorsBefore + 2, OpenFiles.count());
  }

  @AfterEach
  void closeAll() throws IOException {
    left.close();
    right.close();
    arena.close();
    assertEquals(descriptorsBefore, OpenFiles.count());
  }

  @Test
  void shouldSendAndReceive() throws Exception {
    assertEquals(new Received.WouldBlock(), right.receive(arena.allocate(10), 0));
    assertFalse(right.awaitReadable(1_000_000));
    assertEquals(5, left.send(text("hello"), List.of()));
    assertTrue(right.awaitReadable(SECONDS_10));
    MemorySegment buffer = arena.allocate(10);
    assertEquals(new Received.Data(5, List.of()), right.receive(buffer, 0));
    assertEquals("hello", read(buffer, 5));
  }

  @Test
  void shouldPassDescriptorsInOrder() throws Exception {
    List<EventFd> sent = new ArrayList<>();
    for (int i = 0; i < UnixSocket.MAX_DESCRIPTORS; i++) {
      EventFd event = EventFd.create();
      for (int n = 0; n <= i; n++) {
        event.signal();
      }
      sent.add(event);
    }
    left.send(text("x"), sent.stream().map(EventFd::descriptor).toList());
    sent.forEach(EventFd::close);
    Received.Data data =
        assertInstanceOf(
            Received.Data.class, right.receive(arena.allocate(10), UnixSocket.MAX_DESCRIPTORS));
    assertEquals(UnixSocket.MAX_DESCRIPTORS, data.descriptors().size());
    for (int i = 0; i < UnixSocket.MAX_DESCRIPTORS; i++) {
      try (EventFd event = EventFd.adopt(data.descriptors().get(i))) {
        assertEquals(i + 1, event.drain());
        int flags = FileCalls.fcntl(event.descriptor().fd(), 1 /* F_GETFD */, 0);
        assertEquals(1, flags, "close-on-exec");
      }
    }
  }

  @Test
  void shouldCloseEveryDescriptorWhenMoreCameThanExpected() throws Exception {
    try (EventFd event = EventFd.create()) {
      OwnedFd fd = event.descriptor();
      for (int expected = 0; expected < 4; expected++) {
        for (int sent = expected + 1; sent < 6; sent++) {
          left.send(text("ab"), List.of(fd, fd, fd, fd, fd).subList(0, sent));
          assertEquals(
              new Received.DescriptorsLost(2, expected),
              right.receive(arena.allocate(10), expected));
          assertEquals(descriptorsBefore + 3, OpenFiles.count());
        }
      }
      // The stream goes on afterwards.
      left.send(text("ok"), List.of());
      assertEquals(new Received.Data(2, List.of()), right.receive(arena.allocate(10), 0));
    }
  }

  @Test
  void shouldNotJoinBytesAcrossPassedDescriptors() throws Exception {
    try (EventFd event = EventFd.create()) {
      left.send(text("ab"), List.of(event.descriptor()));
      left.send(text("cd"), List.of(event.descriptor()));
      MemorySegment buffer = arena.allocate(4);
      Received.Data all =
          assertInstanceOf(Received.Data.class, right.receiveAll(buffer, 2, SECONDS_10));
      assertEquals(4, all.bytes());
      assertEquals(2, all.descriptors().size());
      assertEquals("abcd", read(buffer, 4));
      all.descriptors().forEach(OwnedFd::close);
    }
  }

  @Test
  void shouldCloseWhatCameBeforeTheStreamEnded() throws Exception {
    try (EventFd event = EventFd.create()) {
      left.send(text("ab"), List.of(event.descriptor()));
      left.close();
      assertEquals(new Received.EndOfStream(), right.receiveAll(arena.allocate(4), 1, SECONDS_10));
    }
  }

  @Test
  void shouldCloseWhatCameBeforeDescriptorsWereLost() throws Exception {
    try (EventFd event = EventFd.create()) {
      left.send(text("ab"), List.of(event.descriptor()));
      left.send(text("cd"), List.of(event.descriptor()));
      assertEquals(
          new Received.DescriptorsLost(4, 1), right.receiveAll(arena.allocate(4), 1, SECONDS_10));
    }
  }

  @Test
  void shouldTimeOutInReceiveAllAndSendAll() throws Exception {
    left.send(text("ab"), List.of());
    NativeException slow =
        assertThrows(
            NativeException.class, () -> right.receiveAll(arena.allocate(4), 0, 2_000_000));
    assertEquals(Errno.ETIMEDOUT, slow.errno());
    MemorySegment large = arena.allocate(8 << 20);
    NativeException full =
        assertThrows(NativeException.class, () -> left.sendAll(large, List.of(), 2_000_000));
    assertEquals(Errno.ETIMEDOUT, full.errno());
    assertEquals(0, left.send(large, List.of()));
  }

  @Test
  void shouldSendAllWhileThePeerReads() throws Exception {
    MemorySegment large = arena.allocate(4 << 20);
    large.fill((byte) 3);
    Thread sender =
        Thread.ofPlatform()
            .start(
                () -> {
                  try (Arena own = Arena.ofConfined()) {
                    MemorySegment bytes = own.allocate(4 << 20);
                    bytes.fill((byte) 3);
                    left.sendAll(bytes, List.of(), SECONDS_10);
                  } catch (NativeException failed) {
                    throw new AssertionError(failed);
                  }
                });
    MemorySegment received = arena.allocate(4 << 20);
    assertEquals(new Received.Data(4 << 20, List.of()), right.receiveAll(received, 0, SECONDS_10));
    sender.join();
    assertEquals(-1, received.mismatch(large));
  }

  @Test
  void shouldReportAPeerThatIsGone() throws Exception {
    right.close();
    NativeException thrown =
        assertThrows(NativeException.class, () -> left.send(text("x"), List.of()));
    assertEquals(Errno.EPIPE, thrown.errno());
    assertEquals("sendmsg", thrown.call());
  }

  @Test
  void shouldReportAResetByAPeerThatDidNotRead() throws Exception {
    left.send(text("unread"), List.of());
    right.close();
    NativeException thrown =
        assertThrows(NativeException.class, () -> left.receive(arena.allocate(8), 0));
    assertEquals(Errno.ECONNRESET, thrown.errno());
  }

  @Test
  void shouldNameItsPeer() throws Exception {
    PeerCredentials peer = left.peerCredentials();
    assertEquals(ProcessHandle.current().pid(), peer.pid());
    try (PidFd process = left.peerProcess().orElseThrow()) {
      assertFalse(process.awaitExit(0));
    }
  }

  @Test
  void shouldEndTheStreamOnShutdown() throws Exception {
    left.shutdownOutput();
    assertEquals(new Received.EndOfStream(), right.receive(arena.allocate(8), 0));
    right.send(text("still open"), List.of());
    assertEquals(new Received.Data(10, List.of()), left.receive(arena.allocate(10), 0));
    left.shutdown();
    assertThrows(NativeException.class, () -> right.send(text("x"), List.of()));
  }

  private MemorySegment text(String text) {
    return arena.allocateFrom(ValueLayout.JAVA_BYTE, text.getBytes(UTF_8));
  }

  private static String read(MemorySegment buffer, int bytes) {
    return new String(buffer.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE), UTF_8);
  }
}
