package io.orbitkv.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Mapped memory that is unmapped when it is closed. Any thread may use its segment; once the
 * mapping is closed the segment refuses every access, and closing it while a native call uses it
 * fails.
 */
public final class Mapping implements AutoCloseable {
  private final Arena arena = Arena.ofShared();
  private final MemorySegment segment;
  private final MappingReport report;

  /** Takes over {@code mappedBytes} at {@code address}. */
  Mapping(long address, long mappedBytes, boolean writable, MappingReport report) {
    MemorySegment whole =
        MemorySegment.ofAddress(address)
            .reinterpret(report.bytes(), arena, _ -> unmap(address, mappedBytes));
    this.segment = writable ? whole : whole.asReadOnly();
    this.report = report;
  }

  /**
   * Maps zero-filled memory of this process alone.
   *
   * @param bytes more than 0
   * @throws NativeException ENOMEM if there is not that much, or if populating it ran out
   */
  public static Mapping anonymous(long bytes, MapOptions options) throws NativeException {
    List<Shortfall> shortfalls = new ArrayList<>();
    if (options.hugePages()) {
      try {
        return MappingSteps.mapAnonymousHuge(bytes, options).finish(shortfalls);
      } catch (NativeException refused) {
        shortfalls.add(HugePages.shortfall(bytes, "smaller pages", refused));
      }
    }
    return MappingSteps.mapAnonymous(bytes, options).finish(shortfalls);
  }

  /**
   * Maps part of a file so that writes are seen by everyone who maps it.
   *
   * @param offset a multiple of the page size
   * @param bytes more than 0
   * @throws NativeException EINVAL if the range goes past the end of the file, where touching it
   *     would raise SIGBUS. The file must not get shorter afterwards: see {@link
   *     Memfd#requireSealed}.
   */
  public static Mapping shared(OwnedFd descriptor, long offset, long bytes, MapOptions options)
      throws NativeException {
    return MappingSteps.mapFile(descriptor, offset, bytes, MemoryCalls.MAP_SHARED, options)
        .finish(new ArrayList<>());
  }

  /** Like {@link #shared}, but what is written stays in this mapping. */
  public static Mapping copyOnWrite(OwnedFd descriptor, long offset, long bytes, MapOptions options)
      throws NativeException {
    return MappingSteps.mapFile(descriptor, offset, bytes, MemoryCalls.MAP_PRIVATE, options)
        .finish(new ArrayList<>());
  }

  /** The memory; read-only if it was mapped so. */
  public MemorySegment segment() {
    return segment;
  }

  /** What was granted. */
  public MappingReport report() {
    return report;
  }

  /**
   * Brings the pages of a range in, without changing what they hold; any thread may use the range
   * meanwhile. A large mapping is better populated this way, piece by piece and beside its use,
   * than by {@link MapOptions#populate} at the start: virtual machines fault in some 0.5 GB/s.
   *
   * @param offset where it starts, a multiple of the page size
   * @param bytes how long it is, rounded up to pages
   * @throws NativeException EINVAL where the kernel (before 5.14) cannot; ENOMEM or EFAULT if
   *     memory ran out
   */
  public void populate(long offset, long bytes) throws NativeException {
    MemorySegment range = segment.asSlice(offset, bytes);
    NativeException.verify(
        "madvise",
        MemoryCalls.populate(range.address(), bytes, !segment.isReadOnly()),
        "populating " + bytes + " bytes at " + offset);
  }

  /** How much of it transparent huge pages back now; reads all of {@code /proc/self/smaps}. */
  public long transparentHugeBytes() {
    return Smaps.hugeBytes(segment.address(), segment.byteSize());
  }

  /**
   * Gives the pages of a range back to the host; they read as zero, or as the file, afterwards.
   *
   * @param offset where it starts, a multiple of the page size
   * @param bytes how long it is, rounded up to pages
   * @throws NativeException EINVAL if it is locked or not aligned
   */
  public void discard(long offset, long bytes) throws NativeException {
    MemorySegment range = segment.asSlice(offset, bytes);
    NativeException.verify(
        "madvise",
        MemoryCalls.madvise(range.address(), bytes, MemoryCalls.MADV_DONTNEED),
        "MADV_DONTNEED of " + bytes + " bytes at " + offset);
  }

  /**
   * Unmaps it, once.
   *
   * @throws IllegalStateException if a native call is using it; it is still mapped then
   */
  @Override
  public synchronized void close() {
    if (segment.scope().isAlive()) {
      arena.close();
    }
  }

  private static void unmap(long address, long mappedBytes) {
    int result = MemoryCalls.munmap(address, mappedBytes);
    if (result < 0) {
      throw new IllegalStateException("munmap: " + Errno.of(-result));
    }
  }
}
