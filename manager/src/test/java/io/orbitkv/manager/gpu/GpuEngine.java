package io.orbitkv.manager.gpu;

import io.orbitkv.client.Answer;
import io.orbitkv.client.ClientOptions;
import io.orbitkv.client.OrbitClient;
import io.orbitkv.client.Registration;
import io.orbitkv.client.control.Register;
import io.orbitkv.client.control.Register.Layer;
import io.orbitkv.client.control.Register.Staging;
import io.orbitkv.client.gpu.StagedPages;
import io.orbitkv.client.gpu.StagingOptions;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.cuda.CudaDevice;
import io.orbitkv.ffi.cuda.CudaException;
import io.orbitkv.ffi.cuda.FakeCuda;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * An engine whose pages lie on the fake GPU: one group of three layers, of which one keeps keys and
 * values apart, one is head-major and one has segments that end inside a word.
 */
final class GpuEngine implements AutoCloseable {
  static final int BLOCKS = 96;
  static final int PAGE_TOKENS = 16;

  private static final List<Layer> LAYERS =
      List.of(
          new Layer(0, 0, 0, 0, BLOCKS, 8192, 2, BLOCKS * 8192L, 8192),
          new Layer(0, 1, 0, 2 * BLOCKS * 8192L, BLOCKS, 4 * 6000L, 4, 6000, 6000),
          new Layer(0, 2, 0, BLOCKS * 40_384L, BLOCKS, 3 * 999, 3, 999, 999));
  private static final int BLOCK_BYTES = 2 * 8192 + 4 * 6000 + 3 * 999;
  private static final long BUFFER_BYTES = BLOCKS * (40_384L + 3 * 999);

  private static final StagingOptions SMALL = new StagingOptions(1 << 20, 2, 2, 4);

  private final CudaDevice device;
  private final long memory;
  private final StagedPages pages;
  private final String socket;
  private final String name;

  GpuEngine(FakeCuda cuda, String socket, String name) throws CudaException, NativeException {
    this.device = cuda.open(0);
    this.memory = device.allocate(BUFFER_BYTES);
    this.pages = StagedPages.create(device, LAYERS, new long[] {memory}, SMALL);
    this.socket = socket;
    this.name = name;
  }

  Staging staging() {
    return pages.staging();
  }

  Answer<OrbitClient> connect(UnaryOperator<Staging> change) {
    Register register =
        new Register(
            name,
            "gpu-ns",
            new Register.Format("m", "i", "bfloat16", "MIX", new Register.Parallel(1, 1, 1, 8)),
            0,
            1,
            Register.Role.LOAD,
            null,
            List.of(
                new Register.Group(
                    0,
                    Register.Component.ATTENTION_KV,
                    PAGE_TOKENS,
                    Register.Rule.PREFIX,
                    null,
                    false,
                    BLOCK_BYTES)),
            List.of(new Register.Buffer(Register.BufferKind.CUDA_STAGED, BUFFER_BYTES)),
            LAYERS,
            change.apply(pages.staging()));
    ClientOptions options = ClientOptions.of(socket).withReconnect(false);
    return OrbitClient.connect(options, new Registration(register, List.of(), pages));
  }

  OrbitClient connect() {
    return switch (connect(UnaryOperator.identity())) {
      case Answer.Ok<OrbitClient>(OrbitClient client) -> client;
      case Answer.Refused<OrbitClient>(Refusal refusal) ->
          throw new AssertionError("refused: " + refusal);
    };
  }

  void fill(int block, long seed) {
    Random random = new Random(seed);
    forEachSegment(
        block,
        segment -> {
          byte[] bytes = new byte[(int) segment.byteSize()];
          random.nextBytes(bytes);
          segment.copyFrom(MemorySegment.ofArray(bytes));
        });
  }

  boolean holds(int block, long seed) {
    Random random = new Random(seed);
    boolean[] equal = {true};
    forEachSegment(
        block,
        segment -> {
          byte[] bytes = new byte[(int) segment.byteSize()];
          random.nextBytes(bytes);
          equal[0] &= MemorySegment.ofArray(bytes).mismatch(segment) < 0;
        });
    return equal[0];
  }

  private void forEachSegment(int block, Consumer<MemorySegment> visit) {
    for (Layer layer : LAYERS) {
      for (int s = 0; s < layer.segmentCount(); s++) {
        long at = layer.baseOffset() + block * layer.blockStride() + s * layer.segmentStride();
        visit.accept(MemorySegment.ofAddress(memory + at).reinterpret(layer.segmentBytes()));
      }
    }
  }

  @Override
  public void close() throws CudaException {
    pages.close();
    device.free(memory);
    device.close();
  }
}
