package io.orbitkv.client;

import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.Memfd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.Seal;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;

/**
 * Memory of this process that the Manager can copy from and to: a memfd that cannot shrink, mapped
 * here. It must stay open as long as a session is registered with it.
 */
public final class HostBuffer implements AutoCloseable {
  private final Memfd memfd;
  private final Mapping mapping;

  private HostBuffer(Memfd memfd, Mapping mapping) {
    this.memfd = memfd;
    this.mapping = mapping;
  }

  /**
   * Creates zero-filled memory.
   *
   * @param name shown in {@code /proc/PID/maps}
   * @param bytes its size
   * @throws NativeException if the host has no memory or no descriptors left
   */
  public static HostBuffer create(String name, long bytes) throws NativeException {
    Memfd memfd = Memfd.create(name, bytes);
    try {
      memfd.addSeals(EnumSet.of(Seal.SHRINK, Seal.GROW));
      Mapping mapping = Mapping.shared(memfd.descriptor(), 0, bytes, MapOptions.READ_WRITE);
      return new HostBuffer(memfd, mapping);
    } catch (NativeException | RuntimeException failed) {
      memfd.close();
      throw failed;
    }
  }

  /** The memory. */
  public MemorySegment segment() {
    return mapping.segment();
  }

  /** Its size. */
  public long bytes() {
    return memfd.bytes();
  }

  /** The descriptor that is handed to the Manager. */
  public OwnedFd descriptor() {
    return memfd.descriptor();
  }

  @Override
  public void close() {
    mapping.close();
    memfd.close();
  }
}
