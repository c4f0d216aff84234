package io.orbitkv.ffi;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memory, doorbells and descriptors against a real second process in another language. */
class PythonPeerTest {
  private static final long SECONDS_20 = TimeUnit.SECONDS.toNanos(20);
  private static final int BYTES = 65_536;
  private static final Set<Seal> SHRINK = EnumSet.of(Seal.SHRINK);

  @TempDir private Path folder;
  private final Arena arena = Arena.ofConfined();

  @BeforeAll
  static void requirePython() throws Exception {
    assumeTrue(PythonPeer.isAvailable(), "needs python3, 3.10 or later");
  }

  @AfterEach
  void closeArena() {
    arena.close();
  }

  @Test
  void shouldTakeMemoryAndADoorbell() throws Exception {
    try (PythonPeer peer = PythonPeer.start(folder, "give")) {
      assertEquals(peer.process().pid(), peer.socket().peerCredentials().pid());
      assertEquals(Posix.userId(), peer.socket().peerCredentials().uid());
      assertEquals(Posix.groupId(), peer.socket().peerCredentials().gid());
      List<OwnedFd> passed = receive(peer, "give", 2);
      SealCheck.Sealed sealed =
          assertInstanceOf(SealCheck.Sealed.class, Memfd.requireSealed(passed.getFirst(), SHRINK));
      assertEquals(BYTES, sealed.bytes());
      try (Memfd memfd = Memfd.adopt(passed.getFirst());
          EventFd doorbell = EventFd.adopt(passed.getLast());
          Mapping mapping =
              Mapping.shared(memfd.descriptor(), 0, sealed.bytes(), MapOptions.READ_WRITE)) {
        assertEquals(BYTES, memfd.bytes());
        MemorySegment memory = mapping.segment();
        for (int i = 0; i < BYTES; i++) {
          assertEquals(0x5A, memory.get(ValueLayout.JAVA_BYTE, i));
        }
        memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 0xA5);
        memory.set(ValueLayout.JAVA_BYTE, BYTES - 1, (byte) 0xA5);
        doorbell.signal();
        assertEquals(List.of(), receive(peer, "seen", 0));
      }
      peer.socket().shutdown();
      peer.assertSucceeds();
    }
  }

  @Test
  void shouldGiveMemoryAndDoorbells() throws Exception {
    try (PythonPeer peer = PythonPeer.start(folder, "take");
        Memfd memfd = Memfd.create("java", BYTES);
        EventFd theirs = EventFd.create();
        EventFd mine = EventFd.create();
        Mapping mapping = Mapping.shared(memfd.descriptor(), 0, BYTES, MapOptions.READ_WRITE)) {
      memfd.addSeals(SHRINK);
      MemorySegment memory = mapping.segment();
      for (int i = 0; i < BYTES; i++) {
        memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i % 251));
      }
      MemorySegment text = arena.allocateFrom(ValueLayout.JAVA_BYTE, "take".getBytes(US_ASCII));
      theirs.signal();
      peer.socket()
          .sendAll(
              text,
              List.of(memfd.descriptor(), theirs.descriptor(), mine.descriptor()),
              SECONDS_20);
      assertTrue(mine.await(SECONDS_20));
      assertEquals(3, mine.drain());
      for (int i = 0; i < BYTES; i++) {
        assertEquals((byte) ((i + 1) % 251), memory.get(ValueLayout.JAVA_BYTE, i));
      }
      peer.socket().shutdown();
      peer.assertSucceeds();
    }
  }

  @Test
  void shouldSurviveAHostilePeer() throws Exception {
    try (PythonPeer peer = PythonPeer.start(folder, "hostile")) {
      long before = OpenFiles.count();
      assertEquals(
          new Received.DescriptorsLost(4, 2),
          peer.socket().receiveAll(arena.allocate(4), 2, SECONDS_20));
      assertEquals(before, OpenFiles.count());

      List<OwnedFd> pipes = receive(peer, "kind", 2);
      NativeException notAnEventfd =
          assertThrows(NativeException.class, () -> EventFd.adopt(pipes.getFirst()));
      assertEquals(Errno.EINVAL, notAnEventfd.errno());
      assertInstanceOf(SealCheck.Refused.class, Memfd.requireSealed(pipes.getLast(), SHRINK));
      pipes.forEach(OwnedFd::close);

      OwnedFd unsealed = receive(peer, "trun", 1).getFirst();
      SealCheck.Refused refused =
          assertInstanceOf(SealCheck.Refused.class, Memfd.requireSealed(unsealed, SHRINK));
      assertTrue(refused.remedy().contains("F_ADD_SEALS"), refused.remedy());
      unsealed.close();
      assertEquals(before, OpenFiles.count());
      peer.socket().shutdown();
      peer.assertSucceeds();
    }
  }

  @Test
  void shouldNoticeThatThePeerWasKilled() throws Exception {
    try (PythonPeer peer = PythonPeer.start(folder, "linger");
        PidFd process = peer.socket().peerProcess().orElseThrow();
        PidFd byNumber = PidFd.open((int) peer.process().pid()).orElseThrow();
        Epoll epoll = Epoll.create()) {
      receive(peer, "here", 0);
      EpollEvents events = new EpollEvents(4);
      epoll.add(peer.socket().descriptor(), Epoll.IN | Epoll.RDHUP, 1);
      epoll.add(process.descriptor(), Epoll.IN, 2);
      assertEquals(0, epoll.await(events, 0));
      assertFalse(byNumber.awaitExit(0));
      peer.process().destroyForcibly();
      assertTrue(process.awaitExit(SECONDS_20));
      assertTrue(byNumber.awaitExit(SECONDS_20));
      assertEquals(2, epoll.await(events, SECONDS_20));
      assertEquals(new Received.EndOfStream(), peer.socket().receive(arena.allocate(1), 0));
    }
  }

  private List<OwnedFd> receive(PythonPeer peer, String expected, int descriptors)
      throws NativeException {
    MemorySegment buffer = arena.allocate(expected.length());
    Received.Data data =
        assertInstanceOf(
            Received.Data.class, peer.socket().receiveAll(buffer, descriptors, SECONDS_20));
    assertEquals(expected, new String(buffer.toArray(ValueLayout.JAVA_BYTE), US_ASCII));
    assertEquals(descriptors, data.descriptors().size());
    return data.descriptors();
  }
}
