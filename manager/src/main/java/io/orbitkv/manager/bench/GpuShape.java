package io.orbitkv.manager.bench;

import io.orbitkv.client.control.Register;
import io.orbitkv.client.control.Register.Buffer;
import io.orbitkv.client.control.Register.BufferKind;
import io.orbitkv.client.control.Register.Component;
import io.orbitkv.client.control.Register.Format;
import io.orbitkv.client.control.Register.Group;
import io.orbitkv.client.control.Register.Layer;
import io.orbitkv.client.control.Register.Parallel;
import io.orbitkv.client.control.Register.Role;
import io.orbitkv.client.control.Register.Rule;
import io.orbitkv.client.control.Register.Staging;
import java.util.ArrayList;
import java.util.List;

/**
 * Pages of one segment size, as an engine with keys and values apart has them: up to 80 layers, in
 * each a plane of keys and one of values, a block of up to 4 MiB.
 *
 * @param segmentBytes of one segment
 * @param layers of the group
 * @param pages blocks that the engine has room for
 */
record GpuShape(int segmentBytes, int layers, int pages) {
  private static final int MOST_LAYERS = 80;
  private static final int BLOCK_BYTES = 4 << 20;

  /** Blocks of that many bytes in all, or a little less. */
  static GpuShape of(int segmentBytes, long bytes) {
    int layers = Math.clamp(BLOCK_BYTES / (2L * segmentBytes), 1, MOST_LAYERS);
    return new GpuShape(segmentBytes, layers, (int) (bytes / (2L * layers * segmentBytes)));
  }

  int blockBytes() {
    return 2 * layers * segmentBytes;
  }

  long bytes() {
    return (long) pages * blockBytes();
  }

  List<Layer> declaration() {
    List<Layer> declared = new ArrayList<>();
    long plane = (long) pages * segmentBytes;
    for (int i = 0; i < layers; i++) {
      declared.add(new Layer(0, i, 0, 2L * i * plane, pages, segmentBytes, 2, plane, segmentBytes));
    }
    return declared;
  }

  Register register(Staging staging) {
    String name = "bench-gpu-" + segmentBytes;
    return new Register(
        name,
        name,
        new Format("bench", "orbitkv-bench", "u8", "LKBT", new Parallel(1, 1, 1, 0)),
        0,
        1,
        Role.LOAD,
        null,
        List.of(new Group(0, Component.ATTENTION_KV, 16, Rule.PREFIX, null, false, blockBytes())),
        List.of(new Buffer(BufferKind.CUDA_STAGED, bytes())),
        declaration(),
        staging);
  }
}
