package io.orbitkv.client.fake;

import io.orbitkv.client.control.Register;
import io.orbitkv.client.control.Register.Layer;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.Memfd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.Seal;
import io.orbitkv.ffi.SealCheck;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The buffers of one registration, mapped, and how slices lie in them. */
final class FakeBuffers implements AutoCloseable {
  private final List<Mapping> mappings = new ArrayList<>();
  private final List<Layer> layers;

  private FakeBuffers(Register register) {
    this.layers =
        list(register.layers()).stream().sorted(Comparator.comparingInt(Layer::layer)).toList();
  }

  /** Maps them, or says why not. */
  static @Nullable Refusal map(Register register, List<OwnedFd> fds, List<FakeBuffers> into) {
    FakeBuffers buffers = new FakeBuffers(register);
    into.add(buffers);
    List<Register.Buffer> declared = list(register.buffers());
    for (int i = 0; i < declared.size(); i++) {
      String field = "buffers[" + i + "]";
      try {
        SealCheck check = Memfd.requireSealed(fds.get(i), EnumSet.of(Seal.SHRINK));
        if (check instanceof SealCheck.Refused refused) {
          return Refusal.ofField(RefusalCode.BUFFER_NOT_SEALED, field, refused.reason());
        }
        if (Memfd.sizeBytes(fds.get(i)) != declared.get(i).bytes()) {
          return Refusal.ofField(RefusalCode.BAD_BUFFER, field, "another size");
        }
        buffers.mappings.add(
            Mapping.shared(fds.get(i), 0, declared.get(i).bytes(), MapOptions.READ_WRITE));
      } catch (NativeException failed) {
        return Refusal.ofField(RefusalCode.BAD_BUFFER, field, "" + failed.getMessage());
      }
    }
    return null;
  }

  /** Blocks that a group's layers have room for, 0 if it has no layers. */
  int blockCount(int groupId) {
    return layers.stream()
        .filter(layer -> layer.groupId() == groupId)
        .mapToInt(Layer::blockCount)
        .findFirst()
        .orElse(0);
  }

  /** The layers of some groups in the order in which they are restored. */
  List<Layer> layers(List<Integer> groupIds) {
    return layers.stream().filter(layer -> groupIds.contains(layer.groupId())).toList();
  }

  /** Gathers one block's slice. */
  byte[] gather(int groupId, int block) {
    int bytes = 0;
    for (Layer layer : layers(List.of(groupId))) {
      bytes += (int) layer.sliceBytes();
    }
    byte[] slice = new byte[bytes];
    int at = 0;
    for (Layer layer : layers(List.of(groupId))) {
      copy(layer, block, slice, at, true);
      at += (int) layer.sliceBytes();
    }
    return slice;
  }

  /** Scatters one layer of a slice. */
  void scatter(Layer layer, int block, byte[] slice) {
    int at = 0;
    for (Layer before : layers(List.of(layer.groupId()))) {
      if (before.layer() == layer.layer()) {
        copy(layer, block, slice, at, false);
        return;
      }
      at += (int) before.sliceBytes();
    }
  }

  @Override
  public void close() {
    mappings.forEach(Mapping::close);
    mappings.clear();
  }

  private void copy(Layer layer, int block, byte[] slice, int sliceOffset, boolean gather) {
    MemorySegment memory = mappings.get(layer.buffer()).segment();
    MemorySegment bytes = MemorySegment.ofArray(slice);
    for (int s = 0; s < layer.segmentCount(); s++) {
      long at = layer.baseOffset() + block * layer.blockStride() + s * layer.segmentStride();
      long in = sliceOffset + (long) s * layer.segmentBytes();
      if (gather) {
        MemorySegment.copy(memory, at, bytes, in, layer.segmentBytes());
      } else {
        MemorySegment.copy(bytes, in, memory, at, layer.segmentBytes());
      }
    }
  }

  static <T> List<T> list(@Nullable List<T> values) {
    return values == null ? List.of() : values;
  }
}
