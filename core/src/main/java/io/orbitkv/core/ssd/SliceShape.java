package io.orbitkv.core.ssd;

import io.orbitkv.core.checksum.Checksum;
import io.orbitkv.state.Longs;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * How an extent is cut in layers, as far as its checksum needs to know. The extent is drawn on
 * {@link io.orbitkv.core.copy.GroupLayout}; this is the part of it that outlives the engine whose
 * registration described the pages.
 */
public final class SliceShape {
  private static final int LAYER_ALIGNMENT_BYTES = 64;
  private static final ValueLayout.OfLong SUM =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final long[] layerBytes;

  /**
   * @param layerBytes bytes of one block in each layer, in the layers' order; the array is owned
   */
  public SliceShape(long[] layerBytes) {
    this.layerBytes = layerBytes;
  }

  /**
   * The shape of a slice whose layers have so many bytes.
   *
   * @param layerBytes bytes of one block in each layer, in the layers' order
   */
  public static SliceShape of(Longs layerBytes) {
    long[] bytes = new long[layerBytes.size()];
    for (int layer = 0; layer < bytes.length; layer++) {
      bytes[layer] = layerBytes.get(layer);
    }
    return new SliceShape(bytes);
  }

  /**
   * The checksum of the extent's bytes, or another number than {@code expected} when a layer's own
   * sum, which restores by layers rely on, is not that of its bytes.
   *
   * @param pool off-heap memory
   */
  public long checksum(MemorySegment pool, long extentOffset, long expected) {
    long position = 0;
    long total = 0;
    long payload = 0;
    long trailer = trailerOffset();
    boolean layersAgree = true;
    for (int layer = 0; layer < layerBytes.length; layer++) {
      long sum = Checksum.sum(pool, extentOffset + position, layerBytes[layer], position);
      layersAgree &= sum == pool.get(SUM, extentOffset + trailer + 8L * layer);
      total += sum;
      payload += layerBytes[layer];
      position = align(position + layerBytes[layer]);
    }
    long actual = Checksum.finish(total, payload);
    return layersAgree || actual != expected ? actual : ~expected;
  }

  private long trailerOffset() {
    long position = 0;
    for (long bytes : layerBytes) {
      position = align(position + bytes);
    }
    return position;
  }

  private static long align(long position) {
    return (position + LAYER_ALIGNMENT_BYTES - 1) & -LAYER_ALIGNMENT_BYTES;
  }
}
