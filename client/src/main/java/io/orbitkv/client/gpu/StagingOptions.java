package io.orbitkv.client.gpu;

/**
 * How large a staging ring is, and how much of the GPU the kernels take.
 *
 * @param slotBytes 1 MiB to 256 MiB, a multiple of 4,096
 * @param loadSlots 1 to 16
 * @param saveSlots 1 to 16
 * @param blocks of a kernel's grid
 */
public record StagingOptions(int slotBytes, int loadSlots, int saveSlots, int blocks) {
  /** What was measured to be enough for the speed of the bus. */
  public static final StagingOptions STANDARD = new StagingOptions(32 << 20, 3, 3, 132);

  /** Bytes of the ring. */
  public long ringBytes() {
    return (long) slotBytes * (loadSlots + saveSlots);
  }
}
