package io.orbitkv.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MemfdTest {
  @Test
  void shouldHaveItsSize() throws Exception {
    try (Memfd memfd = Memfd.create("sized", 12_345)) {
      assertEquals(12_345, memfd.bytes());
      assertEquals(12_345, Memfd.sizeBytes(memfd.descriptor()));
      memfd.truncate(100);
      assertEquals(100, Memfd.sizeBytes(memfd.descriptor()));
    }
  }

  @Test
  void shouldRefuseToShrinkOnceSealed() throws Exception {
    try (Memfd memfd = Memfd.create("sealed", 8192)) {
      memfd.addSeals(EnumSet.of(Seal.SHRINK, Seal.GROW));
      assertTrue(memfd.seals().containsAll(Set.of(Seal.SHRINK, Seal.GROW)));
      assertEquals(
          Errno.EPERM, assertThrows(NativeException.class, () -> memfd.truncate(4096)).errno());
      assertEquals(
          Errno.EPERM, assertThrows(NativeException.class, () -> memfd.truncate(16384)).errno());
    }
  }

  @Test
  void shouldAddNoSealAfterSealSeal() throws Exception {
    try (Memfd memfd = Memfd.create("sealed", 8192)) {
      memfd.addSeals(EnumSet.of(Seal.SEAL));
      NativeException thrown =
          assertThrows(NativeException.class, () -> memfd.addSeals(EnumSet.of(Seal.SHRINK)));
      assertEquals(Errno.EPERM, thrown.errno());
    }
  }

  @Test
  void shouldRefuseTheWriteSealWhileMappedWritable() throws Exception {
    try (Memfd memfd = Memfd.create("mapped", 4096)) {
      try (Mapping mapping = Mapping.shared(memfd.descriptor(), 0, 4096, MapOptions.READ_WRITE)) {
        mapping.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 7);
        NativeException thrown =
            assertThrows(NativeException.class, () -> memfd.addSeals(EnumSet.of(Seal.WRITE)));
        assertEquals(Errno.EBUSY, thrown.errno());
      }
      memfd.addSeals(EnumSet.of(Seal.WRITE));
      assertThrows(
          NativeException.class,
          () -> Mapping.shared(memfd.descriptor(), 0, 4096, MapOptions.READ_WRITE));
      try (Mapping mapping = Mapping.shared(memfd.descriptor(), 0, 4096, MapOptions.READ_ONLY)) {
        assertEquals(7, mapping.segment().get(ValueLayout.JAVA_BYTE, 0));
      }
    }
  }

  @Test
  void shouldAcceptOnlySealedMemfdsFromPeers() throws Exception {
    Set<Seal> required = EnumSet.of(Seal.SHRINK);
    try (Memfd memfd = Memfd.create("peer", 4096);
        EventFd event = EventFd.create()) {
      SealCheck.Refused unsealed =
          assertInstanceOf(
              SealCheck.Refused.class, Memfd.requireSealed(memfd.descriptor(), required));
      assertEquals("memfd lacks the seals [SHRINK]", unsealed.reason());
      memfd.addSeals(required);
      SealCheck.Sealed sealed =
          assertInstanceOf(
              SealCheck.Sealed.class, Memfd.requireSealed(memfd.descriptor(), required));
      assertEquals(4096, sealed.bytes());
      SealCheck.Refused other =
          assertInstanceOf(
              SealCheck.Refused.class, Memfd.requireSealed(event.descriptor(), required));
      assertEquals("not a memfd", other.reason());
    }
  }

  @Test
  void shouldSayWhyThereAreNoHugePages() throws Exception {
    // Far more than any host has reserved, and nothing is touched.
    try (Memfd memfd = Memfd.createHuge("huge", 1L << 46)) {
      assertEquals(1L << 46, Memfd.sizeBytes(memfd.descriptor()));
      List<Shortfall> shortfalls = memfd.shortfalls();
      assertEquals(1, shortfalls.size());
      Shortfall shortfall = shortfalls.getFirst();
      assertEquals((1L << 25) + " huge pages of 2 MiB", shortfall.asked());
      assertEquals("ordinary pages", shortfall.granted());
      assertTrue(shortfall.why().contains("failed with E"), shortfall.why());
      assertTrue(shortfall.remedy().contains("vm.nr_hugepages"), shortfall.remedy());
    }
  }
}
