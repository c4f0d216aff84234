package io.orbitkv.core;

import io.orbitkv.core.checksum.Checksum;
import io.orbitkv.core.copy.EngineBuffers;
import io.orbitkv.core.copy.GroupLayout;
import io.orbitkv.core.copy.LayerLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * An engine's pages on the heap: for each group some layers of contiguous blocks. Its checksum is a
 * plain sum, unless it is told to take the real one.
 */
final class FakeBuffers implements EngineBuffers {
  private final Map<Integer, GroupLayout> layouts = new TreeMap<>();
  private final MemorySegment memory;
  boolean closed;

  /** With the real sum, for which pools have to be off-heap. */
  boolean realSums;

  @Nullable RuntimeException failure;

  private FakeBuffers(int bytes) {
    memory = MemorySegment.ofArray(new byte[bytes]);
  }

  /**
   * Groups 0 to {@code groups - 1}, each of {@code layers} layers of {@code layerBytes} a block.
   */
  static FakeBuffers of(int groups, int layers, int blocks, int layerBytes) {
    FakeBuffers buffers = new FakeBuffers(groups * layers * blocks * layerBytes);
    int offset = 0;
    for (int group = 0; group < groups; group++) {
      List<LayerLayout> list = new ArrayList<>();
      for (int layer = 0; layer < layers; layer++) {
        list.add(
            new LayerLayout(
                group, layer, 0, offset, blocks, layerBytes, 1, layerBytes, layerBytes));
        offset += blocks * layerBytes;
      }
      GroupLayout.Result result =
          GroupLayout.compile(group, list, new long[] {buffers.memory.byteSize()});
      buffers.layouts.put(group, Objects.requireNonNull(result.layout()));
    }
    return buffers;
  }

  void fill(int group, int block, int value) {
    GroupLayout layout = Objects.requireNonNull(layouts.get(group));
    for (int layer = 0; layer < layout.layerCount(); layer++) {
      page(layout, layer, block).fill((byte) (value + layer));
    }
  }

  /** The value that the page was filled with, -1 if it is torn. */
  int read(int group, int block) {
    GroupLayout layout = Objects.requireNonNull(layouts.get(group));
    int value = page(layout, 0, block).get(ValueLayout.JAVA_BYTE, 0);
    for (int layer = 0; layer < layout.layerCount(); layer++) {
      MemorySegment page = page(layout, layer, block);
      for (long at = 0; at < page.byteSize(); at++) {
        if (page.get(ValueLayout.JAVA_BYTE, at) != (byte) (value + layer)) {
          return -1;
        }
      }
    }
    return value & 0xff;
  }

  private MemorySegment page(GroupLayout layout, int layerIndex, int block) {
    LayerLayout layer = layout.layer(layerIndex);
    return memory.asSlice(layer.baseOffset() + block * layer.blockStride(), layer.segmentBytes());
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
    return copy(layout, layerIndex, block, pool, extentOffset, true);
  }

  @Override
  public long scatter(
      GroupLayout layout,
      int layerIndex,
      int block,
      MemorySegment pool,
      long extentOffset,
      boolean sum,
      boolean streaming) {
    return copy(layout, layerIndex, block, pool, extentOffset, false);
  }

  private long copy(
      GroupLayout layout,
      int layerIndex,
      int block,
      MemorySegment pool,
      long extentOffset,
      boolean in) {
    if (closed) {
      throw new IllegalStateException("a copy touches unmapped pages");
    }
    if (failure != null) {
      throw failure;
    }
    MemorySegment page = page(layout, layerIndex, block);
    MemorySegment extent =
        pool.asSlice(extentOffset + layout.layerOffset(layerIndex), page.byteSize());
    MemorySegment from = in ? page : extent;
    (in ? extent : page).copyFrom(from);
    if (realSums) {
      long position = layout.layerOffset(layerIndex);
      return Checksum.sum(pool, extentOffset + position, page.byteSize(), position);
    }
    long sum = layerIndex + 1L;
    for (long at = 0; at < from.byteSize(); at++) {
      sum = sum * 31 + from.get(ValueLayout.JAVA_BYTE, at);
    }
    return sum;
  }

  @Override
  public String kind() {
    return "fake";
  }

  @Override
  public void close() {
    closed = true;
  }
}
