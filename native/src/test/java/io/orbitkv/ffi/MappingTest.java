package io.orbitkv.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class MappingTest {
  private static final long MIB = 1L << 20;

  @Test
  void shouldMapAnonymousMemoryAndRefuseItAfterClose() throws Exception {
    Mapping mapping = Mapping.anonymous(10_000, MapOptions.READ_WRITE);
    MemorySegment segment = mapping.segment();
    assertEquals(10_000, segment.byteSize());
    segment.set(ValueLayout.JAVA_BYTE, 9_999, (byte) 5);
    assertThrows(IndexOutOfBoundsException.class, () -> segment.get(ValueLayout.JAVA_BYTE, 10_000));
    mapping.close();
    mapping.close();
    assertThrows(IllegalStateException.class, () -> segment.get(ValueLayout.JAVA_BYTE, 0));
  }

  @Test
  void shouldUnmapWhenClosed() throws Exception {
    try (Memfd memfd = Memfd.create("mapping-test", 4096)) {
      Mapping mapping = Mapping.shared(memfd.descriptor(), 0, 4096, MapOptions.READ_WRITE);
      assertTrue(maps().contains("memfd:mapping-test"));
      mapping.close();
      assertFalse(maps().contains("memfd:mapping-test"));
    }
  }

  @Test
  void shouldShareAFileRange() throws Exception {
    int page = PageSize.BYTES;
    try (Memfd memfd = Memfd.create("shared", 3L * page);
        Mapping whole = Mapping.shared(memfd.descriptor(), 0, 3L * page, MapOptions.READ_WRITE);
        Mapping tail = Mapping.shared(memfd.descriptor(), page, 2L * page, MapOptions.READ_ONLY);
        Mapping own = Mapping.copyOnWrite(memfd.descriptor(), 0, page, MapOptions.READ_WRITE)) {
      whole.segment().set(ValueLayout.JAVA_LONG, page, 42);
      assertEquals(42, tail.segment().get(ValueLayout.JAVA_LONG, 0));
      assertThrows(
          IllegalArgumentException.class, () -> tail.segment().set(ValueLayout.JAVA_LONG, 0, 1));
      own.segment().set(ValueLayout.JAVA_LONG, 0, 9);
      assertEquals(0, whole.segment().get(ValueLayout.JAVA_LONG, 0));
    }
  }

  @Test
  void shouldRefuseToMapPastTheEndOfAFile() throws Exception {
    try (Memfd memfd = Memfd.create("short", 4096)) {
      for (long[] range : new long[][] {{0, 4097}, {4096, 1}, {-4096, 4096}, {0, Long.MAX_VALUE}}) {
        NativeException thrown =
            assertThrows(
                NativeException.class,
                () ->
                    Mapping.shared(memfd.descriptor(), range[0], range[1], MapOptions.READ_WRITE));
        assertEquals(Errno.EINVAL, thrown.errno());
      }
    }
  }

  @Test
  void shouldPopulate() throws Exception {
    long before = residentPages();
    try (Mapping mapping = Mapping.anonymous(64 * MIB, MapOptions.READ_WRITE.withPopulate(true))) {
      assertTrue(mapping.report().populated());
      long grown = (residentPages() - before) * PageSize.BYTES;
      assertTrue(grown > 48 * MIB, "resident memory grew by " + grown);
    }
  }

  @Test
  void shouldPopulateARangeWithoutChangingIt() throws Exception {
    try (Memfd memfd = Memfd.create("range", 8 * MIB);
        Mapping mapping = Mapping.shared(memfd.descriptor(), 0, 8 * MIB, MapOptions.READ_WRITE)) {
      mapping.segment().set(ValueLayout.JAVA_BYTE, 2 * MIB, (byte) 9);
      mapping.populate(2 * MIB, 4 * MIB);
      assertEquals(9, mapping.segment().get(ValueLayout.JAVA_BYTE, 2 * MIB));
      long present = FileStat.of(memfd.descriptor().fd()).allocatedBytes();
      assertTrue(present >= 4 * MIB && present < 8 * MIB, "present " + present);
      assertTrue(mapping.transparentHugeBytes() <= 8 * MIB);
    }
  }

  @Test
  void shouldDiscardPages() throws Exception {
    try (Mapping mapping = Mapping.anonymous(4 * MIB, MapOptions.READ_WRITE)) {
      mapping.segment().fill((byte) 1);
      mapping.discard(MIB, MIB);
      assertEquals(1, mapping.segment().get(ValueLayout.JAVA_BYTE, MIB - 1));
      assertEquals(0, mapping.segment().get(ValueLayout.JAVA_BYTE, MIB));
      assertEquals(0, mapping.segment().get(ValueLayout.JAVA_BYTE, 2 * MIB - 1));
      assertEquals(1, mapping.segment().get(ValueLayout.JAVA_BYTE, 2 * MIB));
      assertThrows(NativeException.class, () -> mapping.discard(1, MIB));
    }
  }

  @Test
  void shouldFallBackFromReservedHugePagesAndSayWhy() throws Exception {
    long pages =
        32
            + Math.max(0, HugePages.counter("free_hugepages"))
            + Math.max(0, HugePages.counter("nr_overcommit_hugepages"));
    long bytes = pages * Memfd.HUGE_PAGE_BYTES;
    MapOptions options = MapOptions.READ_WRITE.withHugePages(true);
    try (Mapping mapping = Mapping.anonymous(bytes, options)) {
      MappingReport report = mapping.report();
      assertNotEquals(MappingReport.Pages.HUGE, report.pages());
      assertEquals(bytes, mapping.segment().byteSize());
      Shortfall shortfall = report.shortfalls().getFirst();
      assertEquals(pages + " huge pages of 2 MiB", shortfall.asked());
      assertTrue(shortfall.why().startsWith("mmap failed with ENOMEM"), shortfall.why());
      assertTrue(report.describe().contains("vm.nr_hugepages"), report.describe());
    }
  }

  @Test
  void shouldMeasureTransparentHugePagesWhereTheHostHasThem() throws Exception {
    MapOptions options = MapOptions.READ_WRITE.withHugePages(true).withPopulate(true);
    try (Mapping mapping = Mapping.anonymous(16 * MIB, options)) {
      MappingReport report = mapping.report();
      switch (report.pages()) {
        case HUGE -> assertEquals(16 * MIB, report.hugeBytes());
        case TRANSPARENT -> {
          assertEquals(0, mapping.segment().address() % Memfd.HUGE_PAGE_BYTES);
          assertTrue(report.hugeBytes() <= 16 * MIB);
          assertTrue(report.hugeBytes() > 0, report.describe());
        }
        case ORDINARY -> assertEquals(2, report.shortfalls().size());
      }
    }
  }

  @Test
  void shouldFallBackFromAMissingNumaNode() throws Exception {
    MapOptions options = MapOptions.READ_WRITE.withNumaNode(1000);
    try (Mapping mapping = Mapping.anonymous(MIB, options)) {
      assertEquals(MapOptions.ANY_NODE, mapping.report().numaNode());
      Shortfall shortfall = mapping.report().shortfalls().getFirst();
      assertEquals("memory of NUMA node 1000", shortfall.asked());
      assertTrue(shortfall.why().startsWith("mbind failed with E"), shortfall.why());
    }
  }

  @Test
  void shouldBindToTheFirstNodeOrSayWhyNot() throws Exception {
    MapOptions options = MapOptions.READ_WRITE.withNumaNode(0).withPopulate(true);
    try (Mapping mapping = Mapping.anonymous(MIB, options)) {
      boolean bound = mapping.report().numaNode() == 0;
      assertEquals(bound, mapping.report().shortfalls().isEmpty());
      String areas = Files.readString(Path.of("/proc/self/numa_maps"));
      String line = Long.toHexString(mapping.segment().address()) + " bind:0";
      assertEquals(bound, areas.contains(line));
    }
  }

  @Test
  void shouldLockOrSayWhyNot() throws Exception {
    try (Mapping mapping = Mapping.anonymous(64 * 1024, MapOptions.READ_WRITE.withLock(true))) {
      List<Shortfall> shortfalls = mapping.report().shortfalls();
      assertEquals(mapping.report().locked(), shortfalls.isEmpty());
    }
  }

  private static String maps() throws Exception {
    return Files.readString(Path.of("/proc/self/maps"));
  }

  private static long residentPages() throws Exception {
    return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ", -1)[1]);
  }
}
