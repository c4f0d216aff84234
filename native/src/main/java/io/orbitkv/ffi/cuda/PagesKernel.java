package io.orbitkv.ffi.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The two kernels that scatter a slot to pages and gather pages into a slot, with the checksums of
 * what they move, and two that bring entries from and sums to a board in host memory. Their source
 * is {@code src/main/cuda/pages.cu}.
 *
 * <pre>
 *   a layer of the table, 40 bytes:   0 u64 address of block 0, segment 0
 *                                     8 u64 blockStride        16 u64 segmentStride
 *                                    24 u32 segmentCount       28 u32 segmentBytes
 *                                    32 u64 extentOffset
 *   an entry, 16 bytes:               0 u32 pageIndex           4 u32 reserved
 *                                     8 u64 slotOffset
 * </pre>
 */
public final class PagesKernel {
  /** Bytes of a layer in the table. */
  public static final int LAYER_BYTES = 40;

  /** Bytes of an entry. */
  public static final int ENTRY_BYTES = 16;

  /** The most threads of a block. */
  static final int MAX_THREADS = 512;

  /** As fast as the most, and easier on what runs beside. */
  private static final int THREADS = 256;

  private static final String PAGES = "pages.ptx";
  private static final int BOARD_THREADS = 256;
  private static final int BOARD_BLOCKS = 32;
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final CudaKernel scatter;
  private final CudaKernel gather;
  private final CudaKernel take;
  private final CudaKernel give;
  private final int blocks;

  private PagesKernel(
      CudaKernel scatter, CudaKernel gather, CudaKernel take, CudaKernel give, int blocks) {
    this.scatter = scatter;
    this.gather = gather;
    this.take = take;
    this.give = give;
    this.blocks = blocks;
  }

  /**
   * Loads them.
   *
   * @param blocks of the grid: more is faster, fewer leave more of the GPU to others; 1 to 65,535
   */
  public static PagesKernel load(CudaDevice device, int blocks) throws CudaException {
    byte[] pages = resource(PAGES);
    return new PagesKernel(
        device.kernel(pages, "orbitkv_scatter"),
        device.kernel(pages, "orbitkv_gather"),
        device.kernel(pages, "orbitkv_begin"),
        device.kernel(pages, "orbitkv_end"),
        blocks);
  }

  /** The text of a PTX module of this package. */
  static byte[] resource(String name) {
    try (InputStream in = PagesKernel.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("the jar has no " + name);
      }
      return in.readAllBytes();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** Writes a layer of the table. */
  public static void putLayer(
      MemorySegment table,
      int index,
      long address,
      long blockStride,
      long segmentStride,
      int segmentCount,
      int segmentBytes,
      long extentOffset) {
    long at = (long) index * LAYER_BYTES;
    table.set(LONG, at, address);
    table.set(LONG, at + 8, blockStride);
    table.set(LONG, at + 16, segmentStride);
    table.set(INT, at + 24, segmentCount);
    table.set(INT, at + 28, segmentBytes);
    table.set(LONG, at + 32, extentOffset);
  }

  /**
   * Brings entries to the device and clears sums there.
   *
   * @param onHost device address of pinned memory that holds the entries
   */
  public void take(
      CudaStream stream, long onHost, long onDevice, int entries, long sums, int sumCount)
      throws CudaException {
    int words = entries * (ENTRY_BYTES / 8);
    stream.launch(
        take,
        boardBlocks(Math.max(words, sumCount)),
        BOARD_THREADS,
        onHost,
        onDevice,
        words,
        sums,
        sumCount);
  }

  /**
   * Brings sums to the host.
   *
   * @param onHost device address of the pinned memory where they go
   */
  public void give(CudaStream stream, long sums, long onHost, int sumCount) throws CudaException {
    stream.launch(give, boardBlocks(sumCount), BOARD_THREADS, sums, onHost, sumCount);
  }

  private static int boardBlocks(int words) {
    return Math.clamp(Math.ceilDiv(words, BOARD_THREADS), 1, BOARD_BLOCKS);
  }

  /**
   * Starts one of the kernels.
   *
   * @param toPages scatter, else gather
   * @param layers the group's whole table on the device
   * @param entries where the kernel reads the entries
   * @param slot the slot's address, a multiple of 16
   * @param sums {@code entryCount * layerCount} zeroed words on the device, 0 for no sums
   */
  public void launch(
      CudaStream stream,
      boolean toPages,
      long layers,
      int firstLayer,
      int layerCount,
      long entries,
      int entryCount,
      long slot,
      long sums)
      throws CudaException {
    stream.launch(
        toPages ? scatter : gather,
        blocks,
        THREADS,
        layers,
        firstLayer,
        layerCount,
        entries,
        entryCount,
        slot,
        sums);
  }
}
