package io.orbitkv.client.gpu;

import io.orbitkv.client.control.Register.Layer;
import io.orbitkv.ffi.cuda.CudaDevice;
import io.orbitkv.ffi.cuda.CudaException;
import io.orbitkv.ffi.cuda.CudaStream;
import io.orbitkv.ffi.cuda.PagesKernel;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The layers of each group as the kernels read them, in device memory. */
final class PageTables {
  private static final int LAYER_ALIGNMENT_BYTES = 64;

  /**
   * One group.
   *
   * @param address of its layers' table on the device
   * @param layers how many
   * @param pages how many blocks the engine holds
   * @param spanEnds where each layer's bytes end in an extent
   * @param spanStarts where they begin
   */
  @SuppressWarnings("ArrayRecordComponent") // Compared by nobody.
  record Group(long address, int layers, int pages, long[] spanStarts, long[] spanEnds) {

    /** Bytes that some layers of one block take in a slot. */
    long spanBytes(int firstLayer, int layerCount) {
      return spanEnds[firstLayer + layerCount - 1] - spanStarts[firstLayer];
    }
  }

  private final CudaDevice device;
  private final long memory;
  private final Map<Integer, Group> groups;

  private PageTables(CudaDevice device, long memory, Map<Integer, Group> groups) {
    this.device = device;
    this.memory = memory;
    this.groups = groups;
  }

  /**
   * Uploads the tables.
   *
   * @param layers of the registration
   * @param buffers device address of each buffer
   * @param scratch pinned host memory of at least {@link #bytes}
   */
  static PageTables upload(
      CudaDevice device,
      CudaStream stream,
      List<Layer> layers,
      long[] buffers,
      MemorySegment scratch)
      throws CudaException {
    Map<Integer, List<Layer>> byGroup = new TreeMap<>();
    for (Layer layer : layers) {
      byGroup.computeIfAbsent(layer.groupId(), _ -> new ArrayList<>()).add(layer);
    }
    long memory = device.allocate(bytes(layers));
    Map<Integer, Group> groups = new TreeMap<>();
    int next = 0;
    for (Map.Entry<Integer, List<Layer>> entry : byGroup.entrySet()) {
      List<Layer> ascending = entry.getValue();
      ascending.sort(Comparator.comparingInt(Layer::layer));
      long[] starts = new long[ascending.size()];
      long[] ends = new long[ascending.size()];
      long address = memory + (long) next * PagesKernel.LAYER_BYTES;
      long at = 0;
      for (int i = 0; i < ascending.size(); i++) {
        Layer layer = ascending.get(i);
        PagesKernel.putLayer(
            scratch,
            next++,
            buffers[layer.buffer()] + layer.baseOffset(),
            layer.blockStride(),
            layer.segmentStride(),
            layer.segmentCount(),
            layer.segmentBytes(),
            at);
        starts[i] = at;
        ends[i] = at + layer.sliceBytes();
        at = (ends[i] + LAYER_ALIGNMENT_BYTES - 1) & -LAYER_ALIGNMENT_BYTES;
      }
      int pages = ascending.getFirst().blockCount();
      groups.put(entry.getKey(), new Group(address, starts.length, pages, starts, ends));
    }
    stream.toDevice(memory, scratch.asSlice(0, bytes(layers)));
    stream.await();
    return new PageTables(device, memory, groups);
  }

  static long bytes(List<Layer> layers) {
    return (long) Math.max(1, layers.size()) * PagesKernel.LAYER_BYTES;
  }

  @Nullable Group group(int groupId) {
    return groups.get(groupId);
  }

  void close() throws CudaException {
    device.free(memory);
  }
}
