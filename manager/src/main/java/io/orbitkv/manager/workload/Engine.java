package io.orbitkv.manager.workload;

import io.orbitkv.client.Answer;
import io.orbitkv.client.ClientOptions;
import io.orbitkv.client.HostBuffer;
import io.orbitkv.client.OrbitClient;
import io.orbitkv.client.Registration;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.manager.cli.Failure;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A made-up engine: a session with a Manager and pages in which blocks lie, whose bytes are known
 * from the block's number. Not thread-safe.
 */
public final class Engine implements AutoCloseable {
  private static final int OPERATION_MILLIS = 60_000;

  private final EngineShape shape;
  private final HostBuffer buffer;
  private final OrbitClient client;
  private final BlockPattern pattern;

  private Engine(EngineShape shape, HostBuffer buffer, OrbitClient client) {
    this.shape = shape;
    this.buffer = buffer;
    this.client = client;
    this.pattern = new BlockPattern(shape.blockBytes());
  }

  /**
   * Connects and registers.
   *
   * @throws Failure if the Manager refuses, or there is no memory
   */
  public static Engine connect(String socketPath, EngineShape shape) {
    return connect(socketPath, shape, false);
  }

  /**
   * Connects and registers.
   *
   * @param reconnect whether it comes back by itself when the Manager was away
   * @throws Failure if the Manager refuses, or there is no memory
   */
  public static Engine connect(String socketPath, EngineShape shape, boolean reconnect) {
    HostBuffer buffer;
    try {
      buffer = HostBuffer.create("orbitkv-workload", shape.bufferBytes());
    } catch (NativeException noMemory) {
      throw new Failure(
          "no memory for an engine's pages: " + noMemory.getMessage(),
          "make the blocks smaller",
          noMemory);
    }
    ClientOptions options =
        ClientOptions.of(socketPath)
            .withClientName("orbitkv-workload")
            .withOperationMillis(OPERATION_MILLIS)
            .withReconnect(reconnect);
    Registration registration = new Registration(shape.register(), List.of(buffer));
    return switch (OrbitClient.connect(options, registration)) {
      case Answer.Ok<OrbitClient>(OrbitClient client) -> new Engine(shape, buffer, client);
      case Answer.Refused<OrbitClient>(Refusal refusal) -> {
        buffer.close();
        throw refused("the registration", refusal);
      }
    };
  }

  public EngineShape shape() {
    return shape;
  }

  public OrbitClient client() {
    return client;
  }

  /** All pages. */
  public MemorySegment memory() {
    return buffer.segment();
  }

  /** The keys of some blocks. */
  public KeyRun keys(TraceRequest request) {
    byte[] packed = new byte[request.blockCount() * BlockPattern.KEY_BYTES];
    for (int i = 0; i < request.blockCount(); i++) {
      BlockPattern.key(0, request.block(i), packed, i * BlockPattern.KEY_BYTES);
    }
    return KeyRun.of(packed, BlockPattern.KEY_BYTES);
  }

  /** The keys of consecutive blocks. */
  public KeyRun keys(long firstBlock, int count) {
    byte[] packed = new byte[count * BlockPattern.KEY_BYTES];
    for (int i = 0; i < count; i++) {
      BlockPattern.key(0, firstBlock + i, packed, i * BlockPattern.KEY_BYTES);
    }
    return KeyRun.of(packed, BlockPattern.KEY_BYTES);
  }

  /** Writes a block's bytes into a page. */
  public void fill(int page, long block) {
    pattern.select(block);
    for (int layer = 0; layer < shape.layers(); layer++) {
      pattern.write((long) layer * shape.layerBytes(), layerOf(layer, page));
    }
  }

  /** Overwrites a page, so that nothing of what is restored into it was there before. */
  public void wipe(int page) {
    for (int layer = 0; layer < shape.layers(); layer++) {
      layerOf(layer, page).fill((byte) 0xA5);
    }
  }

  /**
   * Compares every byte of a page with those of a block.
   *
   * @throws Failure naming the first byte that differs
   */
  public void verify(int page, long block, String request) {
    pattern.select(block);
    for (int layer = 0; layer < shape.layers(); layer++) {
      long at = pattern.mismatch((long) layer * shape.layerBytes(), layerOf(layer, page));
      if (at >= 0) {
        throw new Failure(
            "request %s: block %d was restored with a wrong byte %d in layer %d"
                .formatted(request, block, at, layer),
            "keep the journal and report this: a restore must never give wrong bytes");
      }
    }
  }

  /** Whether every byte of a page is that of a block. */
  public boolean holds(int page, long block) {
    pattern.select(block);
    for (int layer = 0; layer < shape.layers(); layer++) {
      if (pattern.mismatch((long) layer * shape.layerBytes(), layerOf(layer, page)) >= 0) {
        return false;
      }
    }
    return true;
  }

  /** What to say of a refusal that nobody expects. */
  static Failure refused(String what, Refusal refusal) {
    return new Failure(
        "the Manager refused %s: %s (%s)".formatted(what, refusal.message(), refusal.name()),
        refusal.remedy());
  }

  @Override
  public void close() {
    client.close();
    buffer.close();
  }

  private MemorySegment layerOf(int layer, int page) {
    return buffer.segment().asSlice(shape.offset(layer, page), shape.layerBytes());
  }
}
