package io.orbitkv.chaos.engine;

import io.orbitkv.client.Answer;
import io.orbitkv.client.ClientOptions;
import io.orbitkv.client.HostBuffer;
import io.orbitkv.client.OrbitClient;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.Registration;
import io.orbitkv.client.control.Register;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.manager.workload.BlockPattern;
import io.orbitkv.manager.workload.EngineShape;
import java.util.List;

/**
 * One shard of two. Blocks that only the first has published are reserved and not sealed, so that a
 * query for them waits as long as it is left to.
 */
final class Halves implements AutoCloseable {
  private static final int BLOCKS = 4;

  private final HostBuffer buffer;
  private final OrbitClient client;

  private Halves(HostBuffer buffer, OrbitClient client) {
    this.buffer = buffer;
    this.client = client;
  }

  /** Registers one of the two shards. */
  static Halves connect(String socket, String instance, int shard) throws NativeException {
    EngineShape shape = new EngineShape(instance, "halves", 2, 1024, 16, BLOCKS);
    Register whole = shape.register();
    HostBuffer buffer = HostBuffer.create("orbitkv-chaos", shape.bufferBytes());
    Register half =
        new Register(
            whole.instance(),
            whole.namespace(),
            whole.format(),
            shard,
            2,
            whole.role(),
            null,
            whole.groups(),
            whole.buffers(),
            whole.layers());
    Answer<OrbitClient> answer =
        OrbitClient.connect(
            ClientOptions.of(socket).withReconnect(false), new Registration(half, List.of(buffer)));
    return new Halves(buffer, answer.orThrow());
  }

  OrbitClient client() {
    return client;
  }

  /** Publishes this shard's slices. */
  void publish() {
    PublishResult result =
        client.publish(new PublishRequest(0, "half", keys(), IntRun.range(0, BLOCKS)));
    if (!(result instanceof PublishResult.Published)) {
      throw new AssertionError("half of a block was not published: " + result);
    }
  }

  /** A query for the blocks. */
  static QueryRequest query(String name) {
    return new QueryRequest(0, 0, name, List.of(new QueryRequest.GroupKeys(0, keys())));
  }

  private static KeyRun keys() {
    byte[] packed = new byte[BLOCKS * BlockPattern.KEY_BYTES];
    for (int i = 0; i < BLOCKS; i++) {
      BlockPattern.key(0, i, packed, i * BlockPattern.KEY_BYTES);
    }
    return KeyRun.of(packed, BlockPattern.KEY_BYTES);
  }

  @Override
  public void close() {
    client.close();
    buffer.close();
  }
}
