package io.orbitkv.manager.endpoint;

import io.orbitkv.client.control.Register;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.core.copy.EngineBuffers;
import io.orbitkv.core.copy.GroupLayout;
import io.orbitkv.core.copy.HostBuffers;
import io.orbitkv.core.copy.LayerLayout;
import io.orbitkv.ffi.HostFacts;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.Memfd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.Seal;
import io.orbitkv.ffi.SealCheck;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Maps the memfds that an engine registers. Each is checked before it is touched: an unsealed one
 * could be cut short under the Manager, which would be a SIGBUS.
 */
final class EngineMemory {
  private static final Set<Seal> REQUIRED = Set.of(Seal.SHRINK);

  private EngineMemory() {}

  /**
   * @param descriptors one for each buffer; they stay the caller's
   * @param later runs the unmapping of large memory off the loop's thread
   */
  static Decoded<EngineBuffers> map(
      List<Register.Buffer> buffers,
      List<Register.Layer> layers,
      List<OwnedFd> descriptors,
      Consumer<Runnable> later) {
    List<Mapping> mappings = new ArrayList<>();
    boolean taken = false;
    try {
      for (int i = 0; i < buffers.size(); i++) {
        Decoded<Mapping> mapped = map(i, buffers.get(i), descriptors.get(i));
        switch (mapped) {
          case Decoded.Bad<Mapping>(var refusal) -> {
            return new Decoded.Bad<>(refusal);
          }
          case Decoded.Good<Mapping>(Mapping mapping) -> mappings.add(mapping);
        }
      }
      Decoded<EngineBuffers> described = describe(mappings, layers, later);
      taken = described instanceof Decoded.Good<EngineBuffers>;
      return described;
    } finally {
      if (!taken) {
        mappings.forEach(Mapping::close);
      }
    }
  }

  private static Decoded<Mapping> map(int index, Register.Buffer buffer, OwnedFd descriptor) {
    String field = "buffers[" + index + "]";
    try {
      switch (Memfd.requireSealed(descriptor, REQUIRED)) {
        case SealCheck.Refused(String reason, String remedy) -> {
          return Decoded.bad(RefusalCode.BUFFER_NOT_SEALED, field, reason + "; " + remedy);
        }
        case SealCheck.Sealed(long bytes, Set<Seal> seals) -> {
          if (seals.contains(Seal.WRITE) || seals.contains(Seal.FUTURE_WRITE)) {
            return Decoded.bad(RefusalCode.BAD_BUFFER, field, "the memfd is sealed against writes");
          }
          if (bytes != buffer.bytes()) {
            return Decoded.bad(
                RefusalCode.BAD_BUFFER,
                field,
                "the memfd has %d bytes, not %d".formatted(bytes, buffer.bytes()));
          }
        }
      }
      return Decoded.good(Mapping.shared(descriptor, 0, buffer.bytes(), MapOptions.READ_WRITE));
    } catch (NativeException refused) {
      return Decoded.bad(
          RefusalCode.BAD_BUFFER, field, "cannot be mapped: " + refused.getMessage());
    }
  }

  private static Decoded<EngineBuffers> describe(
      List<Mapping> mappings, List<Register.Layer> layers, Consumer<Runnable> later) {
    List<MemorySegment> memory = new ArrayList<>();
    mappings.forEach(mapping -> memory.add(mapping.segment()));
    HostBuffers.Result result =
        HostBuffers.describe(
            memory,
            layouts(layers),
            HostFacts.strictOvercommit(),
            () -> later.accept(() -> mappings.forEach(Mapping::close)));
    GroupLayout.Problem problem = result.problem();
    HostBuffers buffers = result.buffers();
    if (buffers == null || problem != null) {
      return problem == null
          ? Decoded.bad(RefusalCode.BAD_VALUE, "layers", "cannot be described")
          : Decoded.bad(RefusalCode.BAD_VALUE, problem.field(), problem.message());
    }
    return Decoded.good(buffers);
  }

  /** The layers of a registration as the copies take them. */
  static List<LayerLayout> layouts(List<Register.Layer> layers) {
    List<LayerLayout> layouts = new ArrayList<>();
    for (Register.Layer layer : layers) {
      layouts.add(
          new LayerLayout(
              layer.groupId(),
              layer.layer(),
              layer.buffer(),
              layer.baseOffset(),
              layer.blockCount(),
              layer.blockStride(),
              layer.segmentCount(),
              layer.segmentStride(),
              layer.segmentBytes()));
    }
    return layouts;
  }
}
