package io.orbitkv.client.control;

import io.orbitkv.client.control.Register.Buffer;
import io.orbitkv.client.control.Register.BufferKind;
import io.orbitkv.client.control.Register.Component;
import io.orbitkv.client.control.Register.Group;
import io.orbitkv.client.control.Register.Layer;
import io.orbitkv.client.control.Register.Role;
import io.orbitkv.client.control.Register.Rule;
import io.orbitkv.client.control.Register.Staging;
import io.orbitkv.client.wire.PayloadLimits;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks the fields of a registration against each other: everything that can be told without the
 * Manager's state and without the descriptors. A client may run it before it sends one.
 */
public final class RegisterCheck {
  /** The most slices that make a block; the Manager's state holds no more. */
  public static final int MAX_SHARDS = 64;

  private RegisterCheck() {}

  /** The first thing wrong, null if it is consistent. */
  public static @Nullable Refusal problem(Register register) {
    if (register.shard() >= register.shardCount()) {
      return value("shard", register.shard() + " of " + register.shardCount() + " shards");
    }
    if (register.attachTo() != null) {
      return register.role() == Role.SAVE
          ? null
          : value("attachTo", "only a session with role SAVE attaches to another");
    }
    List<Group> groups = list(register.groups());
    List<Buffer> buffers = list(register.buffers());
    List<Layer> layers = list(register.layers());
    Refusal refusal = groups(groups);
    if (refusal == null) {
      refusal = buffers(buffers, register.staging());
    }
    if (refusal == null && register.role() == Role.QUERY) {
      return queryRole(register, buffers, layers);
    }
    return refusal == null ? layers(groups, buffers, layers) : refusal;
  }

  private static @Nullable Refusal queryRole(
      Register register, List<Buffer> buffers, List<Layer> layers) {
    if (register.shard() != 0) {
      return value("shard", "a session with role QUERY has shard 0");
    }
    if (!buffers.isEmpty() || !layers.isEmpty()) {
      return value(
          buffers.isEmpty() ? "layers" : "buffers", "a session with role QUERY has no buffers");
    }
    return null;
  }

  private static @Nullable Refusal groups(List<Group> groups) {
    int previous = -1;
    long alignment = 1;
    for (int i = 0; i < groups.size(); i++) {
      Group group = groups.get(i);
      String at = "groups[" + i + "].";
      if (group.groupId() <= previous) {
        return Refusal.ofField(
            RefusalCode.BAD_GROUP, at + "groupId", "group ids must ascend without repeats");
      }
      previous = group.groupId();
      boolean window = group.rule() == Rule.WINDOW;
      if (window != (group.windowTokens() != null)) {
        return Refusal.ofField(
            window ? RefusalCode.MISSING_FIELD : RefusalCode.BAD_VALUE,
            at + "windowTokens",
            "given exactly with the rule WINDOW");
      }
      if (group.rule() == Rule.CHECKPOINT && !allowsCheckpoint(group.component())) {
        return value(at + "rule", group.component() + " is not restored by one page");
      }
      alignment = commonMultiple(alignment, group.pageTokens());
      if (alignment > PayloadLimits.MAX_TOKEN) {
        return value(at + "pageTokens", "pages end together only every " + alignment + " tokens");
      }
    }
    return null;
  }

  private static @Nullable Refusal buffers(List<Buffer> buffers, @Nullable Staging staging) {
    for (int i = 0; i < buffers.size(); i++) {
      BufferKind kind = buffers.get(i).kind();
      String at = "buffers[" + i + "].kind";
      if (kind == BufferKind.CUDA_IPC) {
        return Refusal.ofField(
            RefusalCode.BUFFER_KIND, at, kind + " buffers are not offered by this version");
      }
      if (kind != buffers.getFirst().kind()) {
        return value(at, "all buffers of a session are of one kind");
      }
    }
    boolean staged = !buffers.isEmpty() && buffers.getFirst().kind() == BufferKind.CUDA_STAGED;
    if (staged != (staging != null)) {
      return Refusal.ofField(
          staged ? RefusalCode.MISSING_FIELD : RefusalCode.BAD_VALUE,
          "staging",
          "given exactly with CUDA_STAGED buffers");
    }
    return staging == null ? null : staging(staging);
  }

  private static @Nullable Refusal staging(Staging staging) {
    if (!staging.handle().matches("[0-9a-fA-F]{128}")) {
      return value("staging.handle", "128 hexadecimal digits");
    }
    if (staging.slotBytes() % 4096 != 0) {
      return value("staging.slotBytes", "a multiple of 4096");
    }
    return staging.offset() % 256 == 0 ? null : value("staging.offset", "a multiple of 256");
  }

  private static @Nullable Refusal layers(
      List<Group> groups, List<Buffer> buffers, List<Layer> layers) {
    Map<Integer, Long> sliceBytes = new HashMap<>();
    Map<Integer, Integer> blockCounts = new HashMap<>();
    for (Group group : groups) {
      sliceBytes.put(group.groupId(), 0L);
    }
    Set<Long> seen = new HashSet<>();
    for (int i = 0; i < layers.size(); i++) {
      Layer layer = layers.get(i);
      String at = "layers[" + i + "].";
      if (!sliceBytes.containsKey(layer.groupId())) {
        return Refusal.ofField(
            RefusalCode.BAD_GROUP, at + "groupId", "no group " + layer.groupId());
      }
      if (!seen.add((long) layer.groupId() << 32 | layer.layer())) {
        return value(at + "layer", "layer " + layer.layer() + " twice in its group");
      }
      if (layer.buffer() >= buffers.size()) {
        return value(at + "buffer", "no buffer " + layer.buffer());
      }
      Integer blocks = blockCounts.putIfAbsent(layer.groupId(), layer.blockCount());
      if (blocks != null && blocks != layer.blockCount()) {
        return value(at + "blockCount", "differs from the group's other layers, " + blocks);
      }
      Refusal refusal = placement(layer, buffers.get(layer.buffer()).bytes(), at);
      if (refusal != null) {
        return refusal;
      }
      sliceBytes.merge(layer.groupId(), layer.sliceBytes(), Long::sum);
    }
    for (int i = 0; i < groups.size(); i++) {
      Group group = groups.get(i);
      long bytes = sliceBytes.getOrDefault(group.groupId(), 0L);
      if (bytes != group.bytesPerBlock()) {
        return value("groups[" + i + "].bytesPerBlock", "the layers give " + bytes);
      }
    }
    return null;
  }

  private static @Nullable Refusal placement(Layer layer, long bufferBytes, String at) {
    long lastBlock = layer.blockCount() - 1L;
    long lastSegment = layer.segmentCount() - 1L;
    long end;
    long blockSpan;
    long planeSpan;
    try {
      blockSpan =
          Math.addExact(
              Math.multiplyExact(lastSegment, layer.segmentStride()), layer.segmentBytes());
      planeSpan = Math.multiplyExact(lastBlock, layer.blockStride());
      end = Math.addExact(Math.addExact(layer.baseOffset(), planeSpan), blockSpan);
    } catch (ArithmeticException overflow) {
      end = Long.MAX_VALUE;
      blockSpan = 0;
      planeSpan = 0;
    }
    if (end > bufferBytes) {
      return Refusal.ofField(
          RefusalCode.LAYER_OUT_OF_RANGE,
          at + "baseOffset",
          "the layer ends at " + end + ", its buffer at " + bufferBytes);
    }
    boolean segmentsApart = lastSegment == 0 || layer.segmentStride() >= layer.segmentBytes();
    boolean blocksClosed = lastBlock == 0 || layer.blockStride() >= blockSpan;
    boolean planes =
        layer.blockStride() >= layer.segmentBytes()
            && layer.segmentStride() >= planeSpan + layer.segmentBytes();
    if (!segmentsApart || (!blocksClosed && !planes)) {
      return Refusal.ofField(
          RefusalCode.LAYER_OVERLAP, at + "segmentStride", "segments of the layer overlap");
    }
    return null;
  }

  private static boolean allowsCheckpoint(Component component) {
    return switch (component) {
      case RECURRENT, CONVOLUTION, DRAFT -> true;
      case ATTENTION_KV, MLA, SWA, INDEXER -> false;
    };
  }

  private static long commonMultiple(long a, long b) {
    long x = a;
    long y = b;
    while (y != 0) {
      long rest = x % y;
      x = y;
      y = rest;
    }
    return a / x * b;
  }

  private static Refusal value(String field, String message) {
    return Refusal.ofField(RefusalCode.BAD_VALUE, field, message);
  }

  private static <T> List<T> list(@Nullable List<T> values) {
    return values == null ? List.of() : values;
  }
}
