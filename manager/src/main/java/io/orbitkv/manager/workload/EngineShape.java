package io.orbitkv.manager.workload;

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
import io.orbitkv.core.pool.ExtentAllocator;
import java.util.ArrayList;
import java.util.List;

/**
 * What a made-up engine holds: one group of full attention, each layer's blocks end to end in one
 * buffer.
 *
 * @param instance its name
 * @param namespace what its blocks are shared in
 * @param layers layers of the group, at least 1
 * @param layerBytes bytes of one layer of one block, a multiple of 8
 * @param pageTokens tokens of a block
 * @param pages blocks that the engine has room for
 */
public record EngineShape(
    String instance, String namespace, int layers, int layerBytes, int pageTokens, int pages) {
  private static final int LAYER_ALIGNMENT_BYTES = 64;

  /** Refuses shapes that overflow. */
  public EngineShape {
    if (layers < 1 || layerBytes < 8 || layerBytes % 8 != 0 || pageTokens < 1 || pages < 1) {
      throw new IllegalArgumentException("bad shape of an engine");
    }
    if ((long) layers * layerBytes > 1 << 30) {
      throw new IllegalArgumentException("a block has at most 1 GiB");
    }
  }

  /** Bytes of one block. */
  public int blockBytes() {
    return layers * layerBytes;
  }

  /** Bytes of the buffer. */
  public long bufferBytes() {
    return (long) pages * blockBytes();
  }

  /** Where a layer of a block lies in the buffer. */
  public long offset(int layer, int page) {
    return ((long) layer * pages + page) * layerBytes;
  }

  /**
   * Bytes of the pool that one block takes: its layers, each rounded up to a cache line, a sum for
   * each layer, all of it rounded up to the pool's granule.
   */
  public int pooledBytes() {
    int padded = (layerBytes + LAYER_ALIGNMENT_BYTES - 1) & -LAYER_ALIGNMENT_BYTES;
    return ExtentAllocator.allocatedBytes(layers * (padded + Long.BYTES));
  }

  /** The same where a tier on SSD wants extents of whole pages. */
  public int pooledBytesWithSsd() {
    return ExtentAllocator.allocatedBytes(pooledBytes(), ExtentAllocator.DIRECT_GRANULE_BYTES);
  }

  /** The registration. */
  public Register register() {
    List<Layer> declared = new ArrayList<>(layers);
    for (int i = 0; i < layers; i++) {
      declared.add(new Layer(0, i, 0, offset(i, 0), pages, layerBytes, 1, 0, layerBytes));
    }
    return new Register(
        instance,
        namespace,
        new Format("workload", "orbitkv-workload", "u8", "LBT", new Parallel(1, 1, 1, 0)),
        0,
        1,
        Role.LOAD,
        null,
        List.of(
            new Group(
                0, Component.ATTENTION_KV, pageTokens, Rule.PREFIX, null, false, blockBytes())),
        List.of(new Buffer(BufferKind.HOST, bufferBytes())),
        declared);
  }
}
