package io.orbitkv.core.copy;

import io.orbitkv.core.checksum.Checksum;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Engine pages in shared memory that the Manager maps too.
 *
 * <p>A segment of whole words is summed and copied piece by piece while it lies in the core's
 * cache, so the checksum costs no second pass over memory. Segments that end inside a word are
 * copied first and summed as the layer they make up, because a sum is defined on words.
 *
 * <p>Large copies stream, see {@link Checksum#streamAndSum}, unless the memory may fault.
 */
public final class HostBuffers implements EngineBuffers {
  public static final String KIND = "host";

  private final List<MemorySegment> buffers;
  private final Map<Integer, GroupLayout> layouts;
  private final boolean mayFault;
  private final Runnable unmap;
  private boolean closed;

  private HostBuffers(
      List<MemorySegment> buffers,
      Map<Integer, GroupLayout> layouts,
      boolean mayFault,
      Runnable unmap) {
    this.buffers = buffers;
    this.layouts = layouts;
    this.mayFault = mayFault;
    this.unmap = unmap;
  }

  /** Either buffers or the problem with a layer's description. */
  public record Result(@Nullable HostBuffers buffers, GroupLayout.@Nullable Problem problem) {}

  /**
   * Checks the layers against the memory they lie in.
   *
   * @param buffers the mapped memory, in the order of the registration
   * @param layers every layer of this shard
   * @param mayFault whether the host may fail to give a page when it is touched
   * @param unmap run once, when no copy uses the memory any more
   */
  public static Result describe(
      List<MemorySegment> buffers, List<LayerLayout> layers, boolean mayFault, Runnable unmap) {
    long[] sizes = buffers.stream().mapToLong(MemorySegment::byteSize).toArray();
    GroupLayout.All all = GroupLayout.compileAll(layers, sizes);
    if (all.problem() != null) {
      return new Result(null, all.problem());
    }
    return new Result(new HostBuffers(List.copyOf(buffers), all.layouts(), mayFault, unmap), null);
  }

  @Override
  public @Nullable GroupLayout layout(int groupId) {
    return layouts.get(groupId);
  }

  @Override
  public long gather(
      GroupLayout layout,
      int layerIndex,
      int block,
      MemorySegment pool,
      long extentOffset,
      boolean streaming) {
    LayerLayout layer = layout.layer(layerIndex);
    MemorySegment buffer = buffers.get(layer.buffer());
    int base = layout.layerOffset(layerIndex);
    int segmentBytes = layer.segmentBytes();
    boolean wholeWords = segmentBytes % Checksum.ALIGNMENT_BYTES == 0 || layer.segmentCount() == 1;
    long sum = 0;
    for (int segment = 0; segment < layer.segmentCount(); segment++) {
      long from = layer.segmentOffset(block, segment);
      long at = base + (long) segment * segmentBytes;
      if (wholeWords) {
        sum += move(buffer, from, pool, extentOffset + at, segmentBytes, at, streaming);
      } else {
        MemorySegment.copy(buffer, from, pool, extentOffset + at, segmentBytes);
      }
    }
    return wholeWords ? sum : Checksum.sum(pool, extentOffset + base, layer.blockBytes(), base);
  }

  @Override
  public long scatter(
      GroupLayout layout,
      int layerIndex,
      int block,
      MemorySegment pool,
      long extentOffset,
      boolean verify,
      boolean streaming) {
    LayerLayout layer = layout.layer(layerIndex);
    MemorySegment buffer = buffers.get(layer.buffer());
    int base = layout.layerOffset(layerIndex);
    int segmentBytes = layer.segmentBytes();
    boolean wholeWords = segmentBytes % Checksum.ALIGNMENT_BYTES == 0 || layer.segmentCount() == 1;
    long sum =
        verify && !wholeWords
            ? Checksum.sum(pool, extentOffset + base, layer.blockBytes(), base)
            : 0;
    for (int segment = 0; segment < layer.segmentCount(); segment++) {
      long to = layer.segmentOffset(block, segment);
      long at = base + (long) segment * segmentBytes;
      if (wholeWords && (verify || streaming)) {
        sum += move(pool, extentOffset + at, buffer, to, segmentBytes, at, streaming);
      } else {
        MemorySegment.copy(pool, extentOffset + at, buffer, to, segmentBytes);
      }
    }
    return verify ? sum : 0;
  }

  private long move(
      MemorySegment source,
      long sourceOffset,
      MemorySegment target,
      long targetOffset,
      long bytes,
      long position,
      boolean streaming) {
    return streaming && !mayFault
        ? Checksum.streamAndSum(source, sourceOffset, target, targetOffset, bytes, position)
        : Checksum.copyAndSum(source, sourceOffset, target, targetOffset, bytes, position);
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      unmap.run();
    }
  }
}
