package io.orbitkv.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What this host offers to a Manager, for {@code doctor} and for the first lines of a log.
 *
 * @param kernel its release
 * @param cpu its processors
 * @param memoryTotalBytes physical memory; a container's own limit may be lower
 * @param memoryAvailableBytes what could be taken without swapping
 * @param lockedMemoryLimit RLIMIT_MEMLOCK
 * @param mayLockAnyMemory whether CAP_IPC_LOCK lifts that limit
 * @param openFilesLimit RLIMIT_NOFILE
 * @param hugePagePools reserved huge pages by size
 * @param transparentHugePages the mode for private memory: always, madvise, never, absent
 * @param transparentHugePagesShared the mode for memfds
 * @param numaNodes the nodes online
 * @param sharedMemory the space of /dev/shm; empty where it is not mounted
 * @param ioUring whether io_uring may be used
 * @param cuda whether the CUDA driver library loads
 */
public record HostFacts(
    String kernel,
    CpuFacts cpu,
    long memoryTotalBytes,
    long memoryAvailableBytes,
    ResourceLimit lockedMemoryLimit,
    boolean mayLockAnyMemory,
    ResourceLimit openFilesLimit,
    List<HugePagePool> hugePagePools,
    String transparentHugePages,
    String transparentHugePagesShared,
    List<NumaNode> numaNodes,
    Optional<FileSystemSpace> sharedMemory,
    Probe ioUring,
    Probe cuda) {
  private static final Path MEMINFO = Path.of("/proc/meminfo");
  private static final Path OVERCOMMIT = Path.of("/proc/sys/vm/overcommit_memory");
  private static final String SHARED_MEMORY = "/dev/shm";
  private static final int CAP_IPC_LOCK = 14;

  /** Copies the lists. */
  public HostFacts {
    hugePagePools = List.copyOf(hugePagePools);
    numaNodes = List.copyOf(numaNodes);
  }

  /**
   * Reads them all, which takes some milliseconds.
   *
   * @throws IOException if a file that every Linux has cannot be read
   */
  public static HostFacts read() throws IOException {
    return new HostFacts(
        System.getProperty("os.version", ""),
        CpuFacts.read(),
        ProcFile.kibibytesLine(MEMINFO, "MemTotal"),
        ProcFile.kibibytesLine(MEMINFO, "MemAvailable"),
        ResourceLimit.lockedMemory(),
        hasCapability(CAP_IPC_LOCK),
        ResourceLimit.openFiles(),
        HugePagePool.all(),
        HugePages.transparentMode("enabled"),
        HugePages.transparentMode("shmem_enabled"),
        NumaNode.online(),
        Files.isDirectory(Path.of(SHARED_MEMORY))
            ? Optional.of(FileSystemSpace.ofPath(SHARED_MEMORY))
            : Optional.empty(),
        IoUring.probe(),
        SharedLibrary.probe(
            "libcuda.so.1",
            "cuInit",
            "install the NVIDIA driver; in a container, run it with GPU access"));
  }

  /**
   * Whether Mooncake's transfer engine loads, as a shared library with its C API.
   *
   * @param library a path, or a file name for the loader's search path; {@code
   *     libtransfer_engine.so} by default
   */
  public static Probe mooncake(String library) {
    return SharedLibrary.probe(
        library,
        "createTransferEngine",
        "build Mooncake with -DBUILD_SHARED_LIBS=ON and without Python bindings, and name the library"
            + " by its path; its Python wheels do not contain one");
  }

  /**
   * Whether the kernel hands out no more memory than there is ({@code vm.overcommit_memory} 2), so
   * that the page of a memfd that is touched first may be refused, which is a SIGBUS.
   */
  public static boolean strictOvercommit() {
    try {
      return Files.readString(OVERCOMMIT).strip().equals("2");
    } catch (IOException unknown) {
      return true;
    }
  }

  private static boolean hasCapability(int bit) throws IOException {
    String effective = ProcFile.line(Path.of("/proc/self/status"), "CapEff");
    return (Long.parseUnsignedLong(effective, 16) >> bit & 1) == 1;
  }
}
