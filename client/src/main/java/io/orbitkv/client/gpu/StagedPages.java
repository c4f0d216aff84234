package io.orbitkv.client.gpu;

import io.orbitkv.client.control.Register.Layer;
import io.orbitkv.client.control.Register.Staging;
import io.orbitkv.client.wire.BoardLayout;
import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.cuda.CudaDevice;
import io.orbitkv.ffi.cuda.CudaException;
import io.orbitkv.ffi.cuda.CudaStream;
import io.orbitkv.ffi.cuda.PagesKernel;
import java.util.HexFormat;
import java.util.List;

/**
 * An engine's pages on a GPU, and the staging ring through which the Manager fills and empties
 * them. It outlives sessions: each that is registered with it gets a thread that serves its board.
 * Close it when no session uses it any more.
 */
public final class StagedPages implements AutoCloseable {
  private static final long SUMS_BYTES = 8L * BoardLayout.MAX_SUMS;

  /** The word that counts a launch's blocks, and what keeps the entries behind it aligned. */
  private static final long FINISHED_BYTES = 64;

  private static final long SCRATCH_BYTES =
      SUMS_BYTES + FINISHED_BYTES + (long) BoardLayout.MAX_ENTRIES * BoardLayout.ENTRY_BYTES;

  private final CudaDevice device;
  private final StagingOptions options;
  private final PagesKernel kernel;
  private final PageTables tables;
  private final long ring;
  private final byte[] handle;
  private final long scratch;
  private boolean closed;

  private StagedPages(
      CudaDevice device,
      StagingOptions options,
      PagesKernel kernel,
      PageTables tables,
      long ring,
      byte[] handle,
      long scratch) {
    this.device = device;
    this.options = options;
    this.kernel = kernel;
    this.tables = tables;
    this.ring = ring;
    this.handle = handle;
    this.scratch = scratch;
  }

  /**
   * Allocates the ring and loads the kernels.
   *
   * @param device the pages' GPU; stays the caller's
   * @param layers of the registration
   * @param buffers device address of each buffer of the registration
   * @throws CudaException if the GPU has no room
   * @throws NativeException if the host has none
   */
  public static StagedPages create(
      CudaDevice device, List<Layer> layers, long[] buffers, StagingOptions options)
      throws CudaException, NativeException {
    PagesKernel kernel = PagesKernel.load(device, options.blocks());
    PageTables tables;
    try (Mapping scratch =
            Mapping.anonymous(Math.max(4096, PageTables.bytes(layers)), MapOptions.READ_WRITE);
        CudaStream stream = device.stream()) {
      device.pin(scratch.segment());
      tables = PageTables.upload(device, stream, layers, buffers, scratch.segment());
      device.unpin(scratch.segment());
    }
    long ring = device.allocate(options.ringBytes());
    long scratch = zeroed(device, SCRATCH_BYTES * (options.loadSlots() + options.saveSlots()));
    return new StagedPages(device, options, kernel, tables, ring, device.export(ring), scratch);
  }

  private static long zeroed(CudaDevice device, long bytes) throws CudaException {
    long memory = device.allocate(bytes);
    try (CudaStream stream = device.stream()) {
      stream.fill(memory, (byte) 0, bytes);
      stream.await();
    }
    return memory;
  }

  /** What a registration says of the ring. */
  public Staging staging() {
    return new Staging(
        device.gpu().uuid(),
        HexFormat.of().formatHex(handle),
        0,
        options.slotBytes(),
        options.loadSlots(),
        options.saveSlots());
  }

  /**
   * Serves a session's board until it is stopped.
   *
   * @param board mapped; taken over
   * @param toEngine what the Manager rings; taken over
   * @param toManager what rings the Manager; taken over
   * @throws CudaException if the GPU has no streams left; nothing is taken over then
   */
  public BoardServer serve(Mapping board, EventFd toEngine, EventFd toManager)
      throws CudaException {
    return BoardServer.start(this, board, toEngine, toManager);
  }

  CudaDevice device() {
    return device;
  }

  StagingOptions options() {
    return options;
  }

  PagesKernel kernel() {
    return kernel;
  }

  PageTables tables() {
    return tables;
  }

  long slotAddress(int slot) {
    return ring + (long) slot * options.slotBytes();
  }

  /** Where a launch for a slot puts its sums. */
  PagesKernel.Sums sums(int slot, long onHost) {
    long mine = scratch + SCRATCH_BYTES * slot;
    return new PagesKernel.Sums(mine, onHost, mine + SUMS_BYTES);
  }

  /** Device memory for the entries of a slot. */
  long entriesAddress(int slot) {
    return scratch + SCRATCH_BYTES * slot + SUMS_BYTES + FINISHED_BYTES;
  }

  /** Frees the ring. */
  @Override
  public synchronized void close() throws CudaException {
    if (!closed) {
      closed = true;
      device.free(ring);
      device.free(scratch);
      tables.close();
    }
  }
}
