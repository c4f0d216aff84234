package io.orbitkv.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Anonymous shared memory with a descriptor, so that it can be handed to another process over a
 * Unix socket and disappears with its last user. It leaves nothing in {@code /dev/shm}.
 */
public final class Memfd implements AutoCloseable {
  /** Bytes of one huge page, the only huge size that is asked for. */
  public static final long HUGE_PAGE_BYTES = 2L << 20;

  private static final int MFD_CLOEXEC = 0x1;
  private static final int MFD_ALLOW_SEALING = 0x2;
  private static final int MFD_HUGETLB = 0x4;
  private static final int MFD_NOEXEC_SEAL = 0x8;
  private static final int MFD_HUGE_2MB = 21 << 26;

  private final OwnedFd descriptor;
  private final long bytes;
  private final List<Shortfall> shortfalls;

  private Memfd(OwnedFd descriptor, long bytes, List<Shortfall> shortfalls) {
    this.descriptor = descriptor;
    this.bytes = bytes;
    this.shortfalls = List.copyOf(shortfalls);
  }

  /**
   * Creates one with ordinary pages, close-on-exec, sealable and not yet sealed.
   *
   * @param name shown in {@code /proc/PID/maps}; need not be unique; at most 249 bytes
   * @param bytes its size, zero-filled
   */
  public static Memfd create(String name, long bytes) throws NativeException {
    return new Memfd(open(name, bytes, 0), bytes, List.of());
  }

  /**
   * Creates one with 2 MiB huge pages, its size rounded up to whole ones, or with ordinary pages if
   * the host has too few free; {@link #shortfalls} tells which and why.
   */
  public static Memfd createHuge(String name, long bytes) throws NativeException {
    long rounded = Math.ceilDiv(bytes, HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES;
    try {
      OwnedFd fd = open(name, rounded, MFD_HUGETLB | MFD_HUGE_2MB);
      try {
        reserve(fd.fd(), rounded);
        return new Memfd(fd, rounded, List.of());
      } catch (NativeException tooFew) {
        fd.close();
        throw tooFew;
      }
    } catch (NativeException refused) {
      return new Memfd(
          open(name, bytes, 0),
          bytes,
          List.of(HugePages.shortfall(rounded, "ordinary pages", refused)));
    }
  }

  /** Takes a memfd received from a peer; see {@link #requireSealed} before mapping it. */
  public static Memfd adopt(OwnedFd descriptor) throws NativeException {
    return new Memfd(descriptor, FileStat.of(descriptor.fd()).bytes(), List.of());
  }

  /** The size of any open file in bytes. */
  public static long sizeBytes(OwnedFd descriptor) throws NativeException {
    return FileStat.of(descriptor.fd()).bytes();
  }

  /**
   * Whether a descriptor from a peer may be mapped: an ordinary-page memfd that has these seals. An
   * unsealed one can be truncated under us, and touching what is then missing is a SIGBUS. One with
   * huge pages is refused as well, because a peer can free its pages one by one and a fault that
   * finds none free is a SIGBUS too.
   */
  public static SealCheck requireSealed(OwnedFd descriptor, Set<Seal> required)
      throws NativeException {
    int bits = FileCalls.fcntl(descriptor.fd(), FileCalls.F_GET_SEALS, 0);
    if (bits == -Errno.EINVAL.number()) {
      return new SealCheck.Refused("not a memfd", "pass the descriptor of memfd_create");
    }
    Set<Seal> seals =
        Seal.fromBits(NativeException.check("fcntl", bits, "F_GET_SEALS of " + descriptor));
    Set<Seal> missing = EnumSet.noneOf(Seal.class);
    missing.addAll(required);
    missing.removeAll(seals);
    if (!missing.isEmpty()) {
      return new SealCheck.Refused(
          "memfd lacks the seals " + missing,
          "create it with MFD_ALLOW_SEALING and add them with fcntl(F_ADD_SEALS) after ftruncate");
    }
    if (FileSystemSpace.ofDescriptor(descriptor.fd()).isHugeTlb() && !seals.contains(Seal.WRITE)) {
      return new SealCheck.Refused(
          "memfd has huge pages, which its owner can free under us",
          "create it without MFD_HUGETLB");
    }
    return new SealCheck.Sealed(FileStat.of(descriptor.fd()).bytes(), seals);
  }

  /** The seals it has now. */
  public Set<Seal> seals() throws NativeException {
    return Seal.fromBits(
        NativeException.check(
            "fcntl",
            FileCalls.fcntl(descriptor.fd(), FileCalls.F_GET_SEALS, 0),
            "F_GET_SEALS of " + descriptor));
  }

  /**
   * Adds seals, for good.
   *
   * @throws NativeException EBUSY for {@link Seal#WRITE} while a writable mapping exists; EPERM
   *     once {@link Seal#SEAL} is set
   */
  public void addSeals(Set<Seal> seals) throws NativeException {
    NativeException.verify(
        "fcntl",
        FileCalls.fcntl(descriptor.fd(), FileCalls.F_ADD_SEALS, Seal.bits(seals)),
        "F_ADD_SEALS " + seals + " to " + descriptor);
  }

  /** Sets its size; the seals SHRINK and GROW forbid it with EPERM. */
  public void truncate(long newBytes) throws NativeException {
    NativeException.verify(
        "ftruncate", FileCalls.ftruncate(descriptor.fd(), newBytes), newBytes + " bytes");
  }

  /** Its size in bytes when it was created or adopted. */
  public long bytes() {
    return bytes;
  }

  /** What was asked at creation and not granted. */
  public List<Shortfall> shortfalls() {
    return shortfalls;
  }

  public OwnedFd descriptor() {
    return descriptor;
  }

  @Override
  public void close() {
    descriptor.close();
  }

  private static OwnedFd open(String name, long bytes, int flags) throws NativeException {
    if (bytes < 0) {
      throw new IllegalArgumentException("negative size: " + bytes);
    }
    int fd;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment nameText = arena.allocateFrom(name);
      int wanted = MFD_CLOEXEC | MFD_ALLOW_SEALING | flags;
      fd = FileCalls.memfdCreate(nameText, wanted | MFD_NOEXEC_SEAL);
      if (fd == -Errno.EINVAL.number()) {
        fd = FileCalls.memfdCreate(nameText, wanted); // Linux before 6.3 has no NOEXEC_SEAL.
      }
    }
    OwnedFd owned = OwnedFd.adopt(NativeException.check("memfd_create", fd, name));
    int result = FileCalls.ftruncate(owned.fd(), bytes);
    if (result < 0) {
      owned.close();
      throw new NativeException("ftruncate", Errno.of(-result), name + " to " + bytes + " bytes");
    }
    return owned;
  }

  /** Huge pages are only reserved by mapping them; the reservation then belongs to the file. */
  private static void reserve(int fd, long bytes) throws NativeException {
    if (bytes == 0) {
      return;
    }
    long address =
        NativeException.check(
            "mmap",
            MemoryCalls.mmap(
                bytes,
                MemoryCalls.PROT_READ | MemoryCalls.PROT_WRITE,
                MemoryCalls.MAP_SHARED,
                fd,
                0),
            bytes + " bytes of huge pages");
    NativeException.verify("munmap", MemoryCalls.munmap(address, bytes), bytes + " bytes");
  }
}
