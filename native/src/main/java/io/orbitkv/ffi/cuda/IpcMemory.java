package io.orbitkv.ffi.cuda;

import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;

/**
 * Allocations of other processes that are open on one GPU. The driver opens a handle once in a
 * process and closes it for everybody, so each is counted here. Any thread.
 */
public final class IpcMemory {
  private final CudaDevice device;
  private final Map<String, Shared> open = new HashMap<>();

  /** Empty. */
  public IpcMemory(CudaDevice device) {
    this.device = device;
  }

  private static final class Shared {
    final String handle;
    final long address;
    int users;

    Shared(String handle, long address) {
      this.handle = handle;
      this.address = address;
    }
  }

  /** One user of an opened allocation. */
  public final class Opened implements AutoCloseable {
    private final Shared shared;
    private boolean closed;

    private Opened(Shared shared) {
      this.shared = shared;
    }

    /** Where it begins. */
    public long address() {
      return shared.address;
    }

    /**
     * Gives it up; the last user closes it.
     *
     * @throws CudaException if the driver does not close it; it counts as closed
     */
    @Override
    public void close() throws CudaException {
      release(this);
    }
  }

  /**
   * Opens an allocation, or joins those that have it open.
   *
   * @param handle {@link CudaDevice#HANDLE_BYTES} bytes of the process that allocated it
   */
  public synchronized Opened open(byte[] handle) throws CudaException {
    String key = HexFormat.of().formatHex(handle);
    Shared shared = open.get(key);
    if (shared == null) {
      shared = new Shared(key, device.open(handle));
      open.put(key, shared);
    }
    shared.users++;
    return new Opened(shared);
  }

  /** How many allocations are open. */
  public synchronized int count() {
    return open.size();
  }

  private synchronized void release(Opened opened) throws CudaException {
    if (opened.closed) {
      return;
    }
    opened.closed = true;
    Shared shared = opened.shared;
    shared.users--;
    if (shared.users == 0) {
      open.remove(shared.handle);
      device.close(shared.address);
    }
  }
}
