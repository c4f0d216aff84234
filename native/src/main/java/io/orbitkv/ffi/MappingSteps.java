package io.orbitkv.ffi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Grants the wishes of {@link MapOptions} on a fresh range, in the order in which they work: huge
 * pages, then the NUMA policy, then populating (so that the pages come from the bound node), then
 * locking. Populating goes through {@code MADV_POPULATE_WRITE}, which reports that memory ran out
 * where a first touch would raise SIGBUS.
 */
final class MappingSteps {
  private final long address;
  private final long mappedBytes;
  private final long bytes;
  private final boolean anonymous;
  private final boolean hugeTlb;
  private final MapOptions options;

  private MappingSteps(
      long address,
      long mappedBytes,
      long bytes,
      boolean anonymous,
      boolean hugeTlb,
      MapOptions options) {
    this.address = address;
    this.mappedBytes = mappedBytes;
    this.bytes = bytes;
    this.anonymous = anonymous;
    this.hugeTlb = hugeTlb;
    this.options = options;
  }

  static MappingSteps mapAnonymousHuge(long bytes, MapOptions options) throws NativeException {
    long rounded = roundUp(requirePositive(bytes), Memfd.HUGE_PAGE_BYTES);
    int flags =
        MemoryCalls.MAP_PRIVATE
            | MemoryCalls.MAP_ANONYMOUS
            | MemoryCalls.MAP_HUGETLB
            | MemoryCalls.MAP_HUGE_2MB;
    long address = map(rounded, flags, -1, 0, options);
    return new MappingSteps(address, rounded, bytes, true, true, options);
  }

  /** Aligns the range to 2 MiB when transparent huge pages are wanted, which need that. */
  static MappingSteps mapAnonymous(long bytes, MapOptions options) throws NativeException {
    long rounded = roundUp(requirePositive(bytes), PageSize.BYTES);
    int flags = MemoryCalls.MAP_PRIVATE | MemoryCalls.MAP_ANONYMOUS;
    if (!options.hugePages()) {
      long address = map(rounded, flags, -1, 0, options);
      return new MappingSteps(address, rounded, bytes, true, false, options);
    }
    long base = map(rounded + Memfd.HUGE_PAGE_BYTES, flags, -1, 0, options);
    long address = roundUp(base, Memfd.HUGE_PAGE_BYTES);
    unmapSlack(base, address - base);
    unmapSlack(address + rounded, base + Memfd.HUGE_PAGE_BYTES - address);
    return new MappingSteps(address, rounded, bytes, true, false, options);
  }

  static MappingSteps mapFile(
      OwnedFd descriptor, long offset, long bytes, int sharing, MapOptions options)
      throws NativeException {
    requirePositive(bytes);
    int fd = descriptor.fd();
    long fileBytes = FileStat.of(fd).bytes();
    if (offset < 0 || offset > fileBytes - bytes) {
      throw new NativeException(
          "mmap",
          Errno.EINVAL,
          bytes + " bytes at " + offset + " of a file of " + fileBytes + " bytes");
    }
    boolean hugeTlb = FileSystemSpace.ofDescriptor(fd).isHugeTlb();
    long rounded = roundUp(bytes, hugeTlb ? Memfd.HUGE_PAGE_BYTES : PageSize.BYTES);
    long address = map(rounded, sharing, fd, offset, options);
    return new MappingSteps(address, rounded, bytes, false, hugeTlb, options);
  }

  /** Runs the steps; unmaps the range if one of them fails for good. */
  Mapping finish(List<Shortfall> shortfalls) throws NativeException {
    try {
      boolean transparent = !hugeTlb && options.hugePages() && adviseTransparent(shortfalls);
      int node = bindNode(shortfalls);
      if (options.populate()) {
        populate();
      }
      boolean locked = options.lock() && lock(shortfalls);
      MappingReport.Pages pages =
          hugeTlb
              ? MappingReport.Pages.HUGE
              : transparent ? MappingReport.Pages.TRANSPARENT : MappingReport.Pages.ORDINARY;
      long hugeBytes =
          switch (pages) {
            case HUGE -> bytes;
            case TRANSPARENT -> Smaps.hugeBytes(address, mappedBytes);
            case ORDINARY -> 0;
          };
      MappingReport report =
          new MappingReport(bytes, pages, hugeBytes, options.populate(), locked, node, shortfalls);
      return new Mapping(address, mappedBytes, options.writable(), report);
    } catch (NativeException | RuntimeException failed) {
      int result = MemoryCalls.munmap(address, mappedBytes);
      if (result < 0) {
        failed.addSuppressed(new NativeException("munmap", Errno.of(-result), ""));
      }
      throw failed;
    }
  }

  private boolean adviseTransparent(List<Shortfall> shortfalls) {
    String setting = anonymous ? "enabled" : "shmem_enabled";
    String mode = HugePages.transparentMode(setting);
    boolean offered =
        switch (mode) {
          case "always", "madvise", "advise", "within_size", "force" -> true;
          default -> false;
        };
    String why = "the kernel's mode for them is " + mode;
    if (offered) {
      int result = MemoryCalls.madvise(address, mappedBytes, MemoryCalls.MADV_HUGEPAGE);
      if (result == 0) {
        return true;
      }
      why = "madvise failed with " + Errno.of(-result).symbol();
    }
    shortfalls.add(
        new Shortfall(
            "transparent huge pages",
            "ordinary pages",
            why,
            "write madvise (for memfds: advise) to /sys/kernel/mm/transparent_hugepage/"
                + setting));
    return false;
  }

  private int bindNode(List<Shortfall> shortfalls) {
    int node = options.numaNode();
    if (node == MapOptions.ANY_NODE) {
      return node;
    }
    int result = Numa.bind(address, mappedBytes, node);
    if (result == 0) {
      return node;
    }
    shortfalls.add(Numa.shortfall(node, Errno.of(-result)));
    return MapOptions.ANY_NODE;
  }

  private void populate() throws NativeException {
    int result = MemoryCalls.populate(address, mappedBytes, options.writable());
    if (result == -Errno.EINVAL.number()) {
      touch(); // Linux before 5.14.
    } else {
      NativeException.verify("madvise", result, "populating " + mappedBytes + " bytes");
    }
  }

  /** Reading brings the pages of a file in; private memory has to be written. */
  private void touch() {
    MemorySegment range = MemorySegment.ofAddress(address).reinterpret(mappedBytes);
    boolean write = anonymous && options.writable();
    for (long offset = 0; offset < mappedBytes; offset += PageSize.BYTES) {
      byte present = range.get(ValueLayout.JAVA_BYTE, offset);
      if (write) {
        range.set(ValueLayout.JAVA_BYTE, offset, present);
      }
    }
  }

  private boolean lock(List<Shortfall> shortfalls) throws NativeException {
    int result = MemoryCalls.mlock(address, mappedBytes);
    if (result == 0) {
      return true;
    }
    ResourceLimit limit = ResourceLimit.lockedMemory();
    shortfalls.add(
        new Shortfall(
            mappedBytes + " bytes of locked memory",
            "memory that may be swapped out",
            "mlock failed with " + Errno.of(-result).symbol() + ", RLIMIT_MEMLOCK is " + limit,
            "raise it with ulimit -l, LimitMEMLOCK=infinity or docker --ulimit memlock=-1"));
    return false;
  }

  private static long map(long bytes, int flags, int fd, long offset, MapOptions options)
      throws NativeException {
    int protection = MemoryCalls.PROT_READ | (options.writable() ? MemoryCalls.PROT_WRITE : 0);
    return NativeException.check(
        "mmap", MemoryCalls.mmap(bytes, protection, flags, fd, offset), bytes + " bytes");
  }

  private static void unmapSlack(long address, long bytes) throws NativeException {
    if (bytes > 0) {
      NativeException.verify("munmap", MemoryCalls.munmap(address, bytes), bytes + " bytes");
    }
  }

  private static long requirePositive(long bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("size must be positive: " + bytes);
    }
    return bytes;
  }

  private static long roundUp(long value, long unit) {
    return Math.addExact(value, unit - 1) / unit * unit;
  }
}
