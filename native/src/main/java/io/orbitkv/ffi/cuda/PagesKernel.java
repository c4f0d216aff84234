package io.orbitkv.ffi.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The two kernels that scatter a slot to pages and gather pages into a slot, with the checksums of
 * what they move, which they leave on a board in host memory. Few entries travel with the launch;
 * many are brought by a small kernel before it. Their source is {@code src/main/cuda/pages.cu}.
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

  /** The most entries that travel with a launch. */
  public static final int INLINE_ENTRIES = 240;

  /** Their bytes; a launch takes them all, used or not. */
  public static final int INLINE_BYTES = INLINE_ENTRIES * ENTRY_BYTES;

  /** The most threads of a block. */
  static final int MAX_THREADS = 512;

  /** As fast as the most, and easier on what runs beside. */
  private static final int THREADS = 256;

  private static final String PAGES = "pages.ptx";
  private static final int TAKE_THREADS = 256;
  private static final int TAKE_BLOCKS = 32;
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final CudaKernel scatter;
  private final CudaKernel gather;
  private final CudaKernel take;
  private final int blocks;

  private PagesKernel(CudaKernel scatter, CudaKernel gather, CudaKernel take, int blocks) {
    this.scatter = scatter;
    this.gather = gather;
    this.take = take;
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
   * Brings entries to the device, where there are more of them than travel with a launch.
   *
   * @param onHost device address of pinned memory that holds the entries
   */
  public void take(CudaStream stream, long onHost, long onDevice, int entries)
      throws CudaException {
    int words = entries * (ENTRY_BYTES / 8);
    int blocks = Math.clamp(Math.ceilDiv(words, TAKE_THREADS), 1, TAKE_BLOCKS);
    stream.launch(take, blocks, TAKE_THREADS, onHost, onDevice, words);
  }

  /**
   * The sums of a launch.
   *
   * @param onDevice {@code entryCount * layerCount} words that are zero, and are again afterwards
   * @param onHost where the sums go, device address of pinned memory
   * @param finished a zeroed word on the device, which is zero again afterwards
   */
  public record Sums(long onDevice, long onHost, long finished) {
    /** No sums. */
    public static final Sums NONE = new Sums(0, 0, 0);
  }

  /**
   * Starts one of the kernels.
   *
   * @param toPages scatter, else gather
   * @param layers the group's whole table on the device
   * @param inlined the entries, {@value #INLINE_BYTES} bytes, if they travel with the launch
   * @param entries else where they are on the device; 0 if they travel
   * @param slot the slot's address, a multiple of 16
   */
  public void launch(
      CudaStream stream,
      boolean toPages,
      long layers,
      int firstLayer,
      int layerCount,
      byte[] inlined,
      long entries,
      int entryCount,
      long slot,
      Sums sums)
      throws CudaException {
    stream.launch(
        toPages ? scatter : gather,
        blocks,
        THREADS,
        inlined,
        layers,
        firstLayer,
        layerCount,
        entries,
        entryCount,
        slot,
        sums.onDevice(),
        sums.onHost(),
        sums.finished());
  }
}
