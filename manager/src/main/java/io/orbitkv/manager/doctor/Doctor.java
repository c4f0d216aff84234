package io.orbitkv.manager.doctor;

import io.orbitkv.ffi.FileSystemSpace;
import io.orbitkv.ffi.HostFacts;
import io.orbitkv.ffi.HugePagePool;
import io.orbitkv.ffi.Memfd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.Probe;
import io.orbitkv.ffi.ResourceLimit;
import io.orbitkv.ffi.Seal;
import io.orbitkv.ffi.cuda.Cuda;
import io.orbitkv.manager.config.Quantity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Looks at the host, item by item. It changes nothing and takes a second or two. */
public final class Doctor {
  private static final int JAVA = 25;
  private static final long JOURNAL_BYTES = 1L << 30;
  private static final long DESCRIPTORS = 4_096;

  private final Path journalDir;
  private final long poolBytes;
  private final Optional<Path> poolPersist;
  private final List<Path> ssdPaths;
  private final Optional<Path> mooncakeLibrary;
  private final List<String> etcdEndpoints;
  private final List<Finding> findings = new ArrayList<>();

  /**
   * @param poolBytes what the pool is to be, for comparing with limits
   * @param poolPersist the file or folder that is to keep the pool, if one is
   * @param ssdPaths files or folders of an SSD tier; empty if there is to be none
   * @param mooncakeLibrary Mooncake's library; empty to look for it
   * @param etcdEndpoints URIs, or HOST:PORT each; empty if none is to be used
   */
  public Doctor(
      Path journalDir,
      long poolBytes,
      Optional<Path> poolPersist,
      List<Path> ssdPaths,
      Optional<Path> mooncakeLibrary,
      List<String> etcdEndpoints) {
    this.journalDir = journalDir;
    this.poolBytes = poolBytes;
    this.poolPersist = poolPersist;
    this.ssdPaths = List.copyOf(ssdPaths);
    this.mooncakeLibrary = mooncakeLibrary;
    this.etcdEndpoints = List.copyOf(etcdEndpoints);
  }

  /**
   * Looks at everything.
   *
   * @throws IOException if a file that every Linux has cannot be read
   */
  public List<Finding> examine() throws IOException {
    HostFacts host = HostFacts.read();
    jdk();
    findings.add(Finding.ok("kernel", host.kernel()));
    findings.add(
        Finding.ok(
            "processors", "%d usable, %s".formatted(host.cpu().usableCores(), host.cpu().model())));
    memory(host);
    lockedMemory(host);
    hugePages(host);
    descriptors(host.openFilesLimit());
    memfds();
    sharedMemory(host);
    poolPersist.ifPresent(path -> findings.add(PoolCheck.of(path, poolBytes)));
    temporaryFolder();
    journalDisk();
    optional("io_uring", host.ioUring(), "; an SSD tier would use pread and pwrite");
    ssdPaths.forEach(path -> findings.add(SsdCheck.of(path)));
    findings.addAll(GpuCheck.of(Cuda.find()));
    findings.addAll(ClusterCheck.of(mooncakeLibrary, etcdEndpoints));
    return List.copyOf(findings);
  }

  private void jdk() {
    int version = Runtime.version().feature();
    String detail = Runtime.version() + " of " + System.getProperty("java.vendor", "unknown");
    findings.add(
        version == JAVA
            ? Finding.ok("jdk", detail)
            : Finding.fail("jdk", detail, "run it with a JDK " + JAVA));
  }

  private void memory(HostFacts host) {
    String detail =
        "%s of %s available, the pool is to be %s"
            .formatted(
                Quantity.bytesText(host.memoryAvailableBytes()),
                Quantity.bytesText(host.memoryTotalBytes()),
                Quantity.bytesText(poolBytes));
    findings.add(
        poolBytes < host.memoryAvailableBytes()
            ? Finding.ok("memory", detail)
            : Finding.fail("memory", detail, "choose a smaller --pool-size, or free memory"));
  }

  private void lockedMemory(HostFacts host) {
    long limit = host.lockedMemoryLimit().soft();
    String detail = "limit " + bytesOrUnlimited(limit);
    findings.add(
        host.mayLockAnyMemory() || limit == ResourceLimit.UNLIMITED || limit >= poolBytes
            ? Finding.ok("memlock", detail + (host.mayLockAnyMemory() ? ", CAP_IPC_LOCK" : ""))
            : Finding.warn(
                "memlock",
                detail,
                "--lock-memory needs ulimit -l %d, or LimitMEMLOCK=infinity in the unit"
                    .formatted(poolBytes / 1024)));
  }

  private void hugePages(HostFacts host) {
    long wanted = Math.ceilDiv(poolBytes, Memfd.HUGE_PAGE_BYTES);
    long free = 0;
    for (HugePagePool pool : host.hugePagePools()) {
      if (pool.pageBytes() == Memfd.HUGE_PAGE_BYTES) {
        free = pool.free();
      }
    }
    findings.add(
        free >= wanted
            ? Finding.ok("huge pages", free + " of 2 MiB free")
            : Finding.warn(
                "huge pages",
                "%d of 2 MiB free, the pool takes %d; transparent huge pages: %s"
                    .formatted(free, wanted, host.transparentHugePages()),
                "--use-hugepages needs sysctl vm.nr_hugepages=%d or more".formatted(wanted)));
  }

  private void descriptors(ResourceLimit limit) {
    String detail = "limit " + (limit.soft() == ResourceLimit.UNLIMITED ? "none" : limit.soft());
    findings.add(
        limit.soft() == ResourceLimit.UNLIMITED || limit.soft() >= DESCRIPTORS
            ? Finding.ok("open files", detail)
            : Finding.warn(
                "open files",
                detail + "; a session takes 3, a connection 1",
                "ulimit -n " + DESCRIPTORS + " or more"));
  }

  private void memfds() {
    try (Memfd memfd = Memfd.create("orbitkv-doctor", 4_096)) {
      memfd.addSeals(Set.of(Seal.SHRINK));
      findings.add(Finding.ok("memfd", "can be made and sealed"));
    } catch (NativeException refused) {
      findings.add(
          Finding.fail(
              "memfd",
              String.valueOf(refused.getMessage()),
              "allow memfd_create in the container's seccomp profile"));
    }
  }

  private void sharedMemory(HostFacts host) {
    findings.add(
        host.sharedMemory()
            .map(
                space ->
                    Finding.ok(
                        "/dev/shm", Quantity.bytesText(space.freeBytes()) + " free; not needed"))
            .orElse(Finding.ok("/dev/shm", "not mounted; not needed")));
  }

  /** The journal's library unpacks a native library there. */
  private void temporaryFolder() {
    Path folder = Path.of(System.getProperty("java.io.tmpdir", "/tmp"));
    try {
      Path script =
          Files.createTempFile(
              folder,
              "orbitkv-doctor",
              ".sh",
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      try {
        Files.writeString(script, "#!/bin/sh\nexit 0\n");
        boolean ran = new ProcessBuilder(script.toString()).start().waitFor(2, TimeUnit.SECONDS);
        findings.add(
            ran
                ? Finding.ok("temporary folder", folder + " allows to execute")
                : noExec(folder, "a script there did not end"));
      } catch (IOException refused) {
        findings.add(noExec(folder, String.valueOf(refused.getMessage())));
      } finally {
        Files.delete(script);
      }
    } catch (IOException unwritable) {
      findings.add(
          Finding.fail(
              "temporary folder",
              folder + " cannot be written: " + unwritable.getMessage(),
              "set ORBITKV_TMPDIR to a folder of this user"));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static Finding noExec(Path folder, String why) {
    return Finding.warn(
        "temporary folder",
        folder + " does not allow to execute: " + why,
        "set ORBITKV_TMPDIR to a folder that is not mounted noexec");
  }

  private void journalDisk() {
    Path existing = journalDir.toAbsolutePath();
    while (existing != null && !Files.isDirectory(existing)) {
      existing = existing.getParent();
    }
    if (existing == null || !Files.isWritable(existing)) {
      findings.add(
          Finding.fail(
              "journal",
              (existing == null ? journalDir : existing) + " cannot be written",
              "choose another --journal directory, or give this user the right"));
      return;
    }
    try {
      FileSystemSpace space = FileSystemSpace.ofPath(existing.toString());
      String detail = "%s: %s free".formatted(journalDir, Quantity.bytesText(space.freeBytes()));
      findings.add(
          space.freeBytes() >= JOURNAL_BYTES
              ? Finding.ok("journal", detail)
              : Finding.warn(
                  "journal",
                  detail,
                  "free space, lower --journal-retention, or choose another --journal"));
    } catch (NativeException failed) {
      findings.add(
          Finding.fail("journal", String.valueOf(failed.getMessage()), "look at the file system"));
    }
  }

  private void optional(String name, Probe probe, String consequence) {
    findings.add(
        probe.present()
            ? Finding.ok(name, probe.detail())
            : Finding.warn(name, probe.detail() + consequence, probe.remedy()));
  }

  private static String bytesOrUnlimited(long bytes) {
    return bytes == ResourceLimit.UNLIMITED ? "none" : Quantity.bytesText(bytes);
  }
}
