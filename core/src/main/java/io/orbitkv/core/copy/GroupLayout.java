package io.orbitkv.core.copy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One shard's layers of one group, and the extent that a block of them is gathered into.
 *
 * <pre>
 *   extent:  | layer 0 | pad | layer 1 | pad | ... | sum 0 | sum 1 | ... |
 *            ^0              ^64-byte aligned      ^trailerOffset, 8 bytes a layer, little endian
 * </pre>
 *
 * Layers stand in ascending order of their number, each layer's segments end to end. {@code sum i}
 * is the partial checksum of layer {@code i}'s bytes at their position in the extent; the extent's
 * checksum is the wrapping sum of all of them, finished with the payload's length, so that a
 * restore can vouch for each layer as it lands and the journal needs one number for the whole.
 */
public final class GroupLayout {
  private static final int LAYER_ALIGNMENT_BYTES = 64;

  private final int groupId;
  private final List<LayerLayout> layers;
  private final int[] layerOffsets;
  private final int trailerOffset;
  private final int blockCount;
  private final long payloadBytes;

  private GroupLayout(
      int groupId,
      List<LayerLayout> layers,
      int[] layerOffsets,
      int trailerOffset,
      long payloadBytes) {
    this.groupId = groupId;
    this.layers = layers;
    this.layerOffsets = layerOffsets;
    this.trailerOffset = trailerOffset;
    this.blockCount = layers.getFirst().blockCount();
    this.payloadBytes = payloadBytes;
  }

  /** A layout that cannot be: which field of which layer, and what would be right. */
  public record Problem(String field, String message) {}

  /** Either a layout or the problem that prevents one. */
  public record Result(@Nullable GroupLayout layout, @Nullable Problem problem) {
    static Result refused(LayerLayout layer, String field, String message) {
      return new Result(null, new Problem("layers[" + layer.layer() + "]." + field, message));
    }
  }

  /** The layouts of all groups, or the first problem. */
  public record All(Map<Integer, GroupLayout> layouts, @Nullable Problem problem) {}

  /**
   * Checks every layer of a shard.
   *
   * @param bufferBytes size of each registered buffer
   */
  public static All compileAll(List<LayerLayout> layers, long[] bufferBytes) {
    Map<Integer, List<LayerLayout>> byGroup = new TreeMap<>();
    for (LayerLayout layer : layers) {
      byGroup.computeIfAbsent(layer.groupId(), group -> new ArrayList<>()).add(layer);
    }
    Map<Integer, GroupLayout> layouts = new TreeMap<>();
    for (Map.Entry<Integer, List<LayerLayout>> group : byGroup.entrySet()) {
      Result compiled = compile(group.getKey(), group.getValue(), bufferBytes);
      if (compiled.problem() != null) {
        return new All(Map.of(), compiled.problem());
      }
      if (compiled.layout() != null) {
        layouts.put(group.getKey(), compiled.layout());
      }
    }
    return new All(layouts, null);
  }

  /**
   * Checks the layers of one group against the sizes of the buffers they lie in.
   *
   * @param bufferBytes size of each registered buffer
   */
  public static Result compile(int groupId, List<LayerLayout> unordered, long[] bufferBytes) {
    if (unordered.isEmpty()) {
      return new Result(null, new Problem("layers", "group " + groupId + " has no layer"));
    }
    List<LayerLayout> layers = new ArrayList<>(unordered);
    layers.sort(Comparator.comparingInt(LayerLayout::layer));
    int[] offsets = new int[layers.size()];
    long at = 0;
    long payload = 0;
    for (int i = 0; i < layers.size(); i++) {
      LayerLayout layer = layers.get(i);
      Result refusal = check(layer, layers.getFirst(), bufferBytes);
      if (refusal != null) {
        return refusal;
      }
      if (i > 0 && layers.get(i - 1).layer() == layer.layer()) {
        return Result.refused(layer, "layer", "is described twice");
      }
      offsets[i] = (int) at;
      payload += layer.blockBytes();
      at = (at + layer.blockBytes() + LAYER_ALIGNMENT_BYTES - 1) & -LAYER_ALIGNMENT_BYTES;
      if (at + 8L * layers.size() > Integer.MAX_VALUE - 4096) {
        return Result.refused(layer, "segmentBytes", "makes a block of 2 GiB or more");
      }
    }
    return new Result(
        new GroupLayout(groupId, List.copyOf(layers), offsets, (int) at, payload), null);
  }

  private static @Nullable Result check(LayerLayout layer, LayerLayout first, long[] bufferBytes) {
    if (layer.buffer() < 0 || layer.buffer() >= bufferBytes.length) {
      return Result.refused(
          layer, "buffer", "is " + layer.buffer() + " of " + bufferBytes.length + " buffers");
    }
    if (layer.blockCount() < 1 || layer.segmentCount() < 1 || layer.segmentBytes() < 1) {
      return Result.refused(
          layer, "blockCount", "and segmentCount and segmentBytes must be at least 1");
    }
    if (layer.blockCount() != first.blockCount()) {
      return Result.refused(
          layer,
          "blockCount",
          "is " + layer.blockCount() + ", another layer of the group has " + first.blockCount());
    }
    if (layer.baseOffset() < 0 || layer.blockStride() < 0 || layer.segmentStride() < 0) {
      return Result.refused(layer, "baseOffset", "and the strides must not be negative");
    }
    long blockSpan;
    long segmentSpan;
    long end;
    try {
      blockSpan =
          Math.addExact(
              Math.multiplyExact(layer.segmentCount() - 1L, layer.segmentStride()),
              layer.segmentBytes());
      segmentSpan =
          Math.addExact(
              Math.multiplyExact(layer.blockCount() - 1L, layer.blockStride()),
              layer.segmentBytes());
      end =
          Math.addExact(
              Math.addExact(layer.baseOffset(), blockSpan),
              Math.multiplyExact(layer.blockCount() - 1L, layer.blockStride()));
    } catch (ArithmeticException overflow) {
      return Result.refused(layer, "blockStride", "reaches past 2^63 bytes");
    }
    if (end > bufferBytes[layer.buffer()]) {
      return Result.refused(
          layer,
          "blockStride",
          "reaches byte " + end + " of a buffer of " + bufferBytes[layer.buffer()] + " bytes");
    }
    boolean blockMajor = layer.blockCount() == 1 || layer.blockStride() >= blockSpan;
    boolean segmentMajor = layer.segmentCount() == 1 || layer.segmentStride() >= segmentSpan;
    boolean segmentsApart =
        layer.segmentCount() == 1 || layer.segmentStride() >= layer.segmentBytes();
    boolean blocksApart = layer.blockCount() == 1 || layer.blockStride() >= layer.segmentBytes();
    if (!(blockMajor && segmentsApart) && !(segmentMajor && blocksApart)) {
      return Result.refused(layer, "blockStride", "makes blocks overlap");
    }
    if (layer.blockBytes() > Integer.MAX_VALUE / 2) {
      return Result.refused(layer, "segmentBytes", "makes a block of 1 GiB or more in one layer");
    }
    return null;
  }

  public int groupId() {
    return groupId;
  }

  public int layerCount() {
    return layers.size();
  }

  public LayerLayout layer(int index) {
    return layers.get(index);
  }

  /** Where the layer's bytes begin in the extent. */
  public int layerOffset(int index) {
    return layerOffsets[index];
  }

  public int trailerOffset() {
    return trailerOffset;
  }

  /** How many blocks the engine holds; a block index is below it. */
  public int blockCount() {
    return blockCount;
  }

  /** The engine's bytes of one block, over all layers. */
  public long payloadBytes() {
    return payloadBytes;
  }

  /**
   * The same as {@link #extentBytes()} for layers of which one block has so many bytes each, which
   * made a layout once.
   */
  public static int extentBytes(long[] layerBytes) {
    long at = 0;
    for (long bytes : layerBytes) {
      at = (at + bytes + LAYER_ALIGNMENT_BYTES - 1) & -LAYER_ALIGNMENT_BYTES;
    }
    return (int) (at + 8L * layerBytes.length);
  }

  /** Bytes an extent must have: layers, padding and trailer. */
  public int extentBytes() {
    return trailerOffset + 8 * layers.size();
  }
}
