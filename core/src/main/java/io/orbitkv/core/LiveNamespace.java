package io.orbitkv.core;

import io.orbitkv.core.copy.EngineBuffers;
import io.orbitkv.core.copy.GroupLayout;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.core.ssd.SliceShape;
import io.orbitkv.state.BoundLayers;
import io.orbitkv.state.HostEvent.LayersBound;
import io.orbitkv.state.Longs;
import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.StateFormat;
import io.orbitkv.state.recovery.RecoveryContract;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A bound namespace as decisions need it: the compiled recovery contract, and how each shard's
 * slices are cut in layers. The format fixes the bytes of a block but not how they are spread over
 * layers; an extent written through one spread and read through another would be garbage, so the
 * first registration of a shard fixes it.
 */
final class LiveNamespace {
  final int id;
  final Namespace name;
  final StateFormat format;
  final RecoveryContract contract;
  final int shardCount;

  /** What sizes of extents are multiples of. */
  private final int granuleBytes;

  /** By group index and slice. */
  private final @Nullable LayerShape[][] shapes;

  /** Which layers a slice holds and how many bytes of each. */
  @SuppressWarnings(
      "ArrayRecordComponent") // compared by nobody; copies on the hot path help nobody
  private record LayerShape(int[] numbers, long[] bytes, int extentBytes) {}

  LiveNamespace(int id, Namespace name, StateFormat format, int shardCount, int granuleBytes) {
    this.id = id;
    this.name = name;
    this.format = format;
    this.contract = RecoveryContract.compile(format.groups()).orElseThrow();
    this.shardCount = shardCount;
    this.granuleBytes = granuleBytes;
    this.shapes = new LayerShape[contract.groups().size()][];
    for (int g = 0; g < shapes.length; g++) {
      shapes[g] = new LayerShape[group(g).replicated() ? 1 : shardCount];
    }
  }

  GroupSpec group(int groupIndex) {
    return contract.groups().get(groupIndex);
  }

  /** Which slice of a block holds the bytes of a shard. */
  int slice(int groupIndex, int shard) {
    return group(groupIndex).replicated() ? 0 : shard;
  }

  /** Whether a block can wait for another shard's slice. */
  boolean needsSeveralSlices(int groupIndex) {
    return shardCount > 1 && !group(groupIndex).replicated();
  }

  /** Allocated bytes of one slice; 0 while no shard that holds it has registered its layers. */
  int extentBytes(int groupIndex, int shard) {
    LayerShape shape = shapes[groupIndex][slice(groupIndex, shard)];
    return shape == null ? 0 : shape.extentBytes();
  }

  // ---- how blocks are cut, for those who move them between hosts

  /** Whether every slice's layers are known. */
  boolean whole() {
    for (LayerShape[] group : shapes) {
      for (LayerShape shape : group) {
        if (shape == null) {
          return false;
        }
      }
    }
    return true;
  }

  int groupIndex(int groupId) {
    for (int g = 0; g < shapes.length; g++) {
      if (group(g).groupId() == groupId) {
        return g;
      }
    }
    throw new IllegalArgumentException("no group " + groupId);
  }

  /** Slices of a block. */
  int slices(int groupIndex) {
    return shapes[groupIndex].length;
  }

  /** Allocated bytes of a slice. */
  int sliceExtentBytes(int groupIndex, int slice) {
    return known(groupIndex, slice).extentBytes();
  }

  /** Allocated bytes of each slice of a block. */
  Longs sliceExtentBytes(int groupIndex) {
    long[] bytes = new long[slices(groupIndex)];
    for (int slice = 0; slice < bytes.length; slice++) {
      bytes[slice] = sliceExtentBytes(groupIndex, slice);
    }
    return Longs.of(bytes);
  }

  /** Allocated bytes of a block. */
  long blockBytes(int groupIndex) {
    long bytes = 0;
    for (int slice = 0; slice < slices(groupIndex); slice++) {
      bytes += sliceExtentBytes(groupIndex, slice);
    }
    return bytes;
  }

  /** Bytes of a slice's layers, with their padding and sums: what of an extent has a meaning. */
  int contentBytes(int groupIndex, int slice) {
    return GroupLayout.extentBytes(known(groupIndex, slice).bytes());
  }

  SliceShape shape(int groupIndex, int slice) {
    return new SliceShape(known(groupIndex, slice).bytes());
  }

  private LayerShape known(int groupIndex, int slice) {
    LayerShape shape = shapes[groupIndex][slice];
    if (shape == null) {
      throw new IllegalStateException(
          "nobody said how slice %d of group %d is cut".formatted(slice, groupIndex));
    }
    return shape;
  }

  /**
   * A registered field that does not fit, and why.
   *
   * @param bound whether it would be good if another registration had not bound something else
   */
  record FieldProblem(String field, String message, boolean bound) {}

  /** What is wrong with a shard's layers, null if they fit. */
  @Nullable FieldProblem layerProblem(int shard, EngineBuffers buffers, long poolBytes) {
    for (int g = 0; g < shapes.length; g++) {
      GroupLayout layout = buffers.layout(group(g).groupId());
      String at = "groups[" + g + "]";
      if (layout == null) {
        if (group(g).replicated()) {
          continue;
        }
        return new FieldProblem(
            "layers", "has none of " + at + ": no block would be sealed", false);
      }
      if (layout.payloadBytes() != group(g).bytesPerBlock()) {
        return new FieldProblem(
            at + ".bytesPerBlock",
            "is " + group(g).bytesPerBlock() + " but the layers hold " + layout.payloadBytes(),
            false);
      }
      if (ExtentAllocator.allocatedBytes(layout.extentBytes(), granuleBytes) > poolBytes) {
        return new FieldProblem(
            at + ".bytesPerBlock", "needs more than the pool of " + poolBytes + " bytes", false);
      }
      LayerShape shape = shapes[g][slice(g, shard)];
      FieldProblem problem = shape == null ? null : differs(at, layout, shape);
      if (problem != null) {
        return problem;
      }
    }
    return null;
  }

  private static @Nullable FieldProblem differs(String at, GroupLayout layout, LayerShape bound) {
    if (bound.numbers().length != layout.layerCount()) {
      return new FieldProblem(
          "layers",
          "of %s are %d, bound are %d".formatted(at, layout.layerCount(), bound.numbers().length),
          true);
    }
    for (int l = 0; l < layout.layerCount(); l++) {
      int number = layout.layer(l).layer();
      long bytes = layout.layer(l).blockBytes();
      if (number != bound.numbers()[l] || bytes != bound.bytes()[l]) {
        return new FieldProblem(
            "layers",
            "of %s have layer %d with %d bytes a block, bound is layer %d with %d"
                .formatted(at, number, bytes, bound.numbers()[l], bound.bytes()[l]),
            true);
      }
    }
    return null;
  }

  /**
   * Fixes the layers of a shard whose {@link #layerProblem} is none; answers what was not fixed
   * before.
   */
  List<LayersBound> bindLayers(int shard, EngineBuffers buffers) {
    List<LayersBound> fresh = new ArrayList<>();
    for (int g = 0; g < shapes.length; g++) {
      GroupLayout layout = buffers.layout(group(g).groupId());
      if (layout != null && shapes[g][slice(g, shard)] == null) {
        int[] numbers = new int[layout.layerCount()];
        long[] bytes = new long[numbers.length];
        for (int l = 0; l < numbers.length; l++) {
          numbers[l] = layout.layer(l).layer();
          bytes[l] = layout.layer(l).blockBytes();
        }
        int extentBytes = ExtentAllocator.allocatedBytes(layout.extentBytes(), granuleBytes);
        shapes[g][slice(g, shard)] = new LayerShape(numbers, bytes, extentBytes);
        fresh.add(
            new LayersBound(
                id,
                group(g).groupId(),
                slice(g, shard),
                Longs.of(Arrays.stream(numbers).asLongStream().toArray()),
                Longs.of(bytes.clone())));
      }
    }
    return fresh;
  }

  /** Fixes layers as an earlier epoch did, which left blocks that are cut so. */
  void bindLayers(int groupIndex, BoundLayers bound) {
    int[] numbers = new int[bound.layers().size()];
    long[] bytes = new long[numbers.length];
    for (int l = 0; l < numbers.length; l++) {
      numbers[l] = (int) bound.layers().get(l);
      bytes[l] = bound.layerBytes().get(l);
    }
    int extentBytes = ExtentAllocator.allocatedBytes(GroupLayout.extentBytes(bytes), granuleBytes);
    shapes[groupIndex][bound.slice()] = new LayerShape(numbers, bytes, extentBytes);
  }
}
