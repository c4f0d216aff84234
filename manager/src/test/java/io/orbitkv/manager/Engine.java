package io.orbitkv.manager;

import io.orbitkv.client.Answer;
import io.orbitkv.client.ClientOptions;
import io.orbitkv.client.HostBuffer;
import io.orbitkv.client.OrbitClient;
import io.orbitkv.client.Registration;
import io.orbitkv.client.control.Register;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.ffi.NativeException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;

/** An engine with one group of two layers, as tests need it. */
public final class Engine implements AutoCloseable {
  public static final int BLOCKS = 64;
  public static final int LAYER_BYTES = 2048;
  public static final int PAGE_TOKENS = 64;
  private static final int PAGE_BYTES = 2 * LAYER_BYTES;

  public final HostBuffer buffer;
  public final OrbitClient client;

  public Engine(ClientOptions options, String instance) throws NativeException {
    buffer = HostBuffer.create("engine", (long) BLOCKS * PAGE_BYTES);
    client =
        switch (OrbitClient.connect(options, registration(instance, "ns", buffer))) {
          case Answer.Ok<OrbitClient>(OrbitClient connected) -> connected;
          case Answer.Refused<OrbitClient>(var refusal) ->
              throw new AssertionError("refused: " + refusal);
        };
  }

  public static Registration registration(String instance, String namespace, HostBuffer buffer) {
    Register.Layer first =
        new Register.Layer(0, 0, 0, 0, BLOCKS, PAGE_BYTES, 1, LAYER_BYTES, LAYER_BYTES);
    Register.Layer second =
        new Register.Layer(0, 1, 0, LAYER_BYTES, BLOCKS, PAGE_BYTES, 1, LAYER_BYTES, LAYER_BYTES);
    return new Registration(
        new Register(
            instance,
            namespace,
            new Register.Format("m", "i", "bfloat16", "NHD", new Register.Parallel(1, 1, 1, 8)),
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
                    PAGE_BYTES)),
            List.of(new Register.Buffer(Register.BufferKind.HOST, buffer.bytes())),
            List.of(first, second)),
        List.of(buffer));
  }

  public static KeyRun keys(long seed, int count) {
    byte[] packed = new byte[32 * count];
    new Random(seed).nextBytes(packed);
    return KeyRun.of(packed, 32);
  }

  public void fill(int block, long seed) {
    byte[] bytes = new byte[PAGE_BYTES];
    new Random(seed).nextBytes(bytes);
    MemorySegment.copy(
        bytes, 0, buffer.segment(), ValueLayout.JAVA_BYTE, (long) block * PAGE_BYTES, PAGE_BYTES);
  }

  public byte[] page(int block) {
    return buffer
        .segment()
        .asSlice((long) block * PAGE_BYTES, PAGE_BYTES)
        .toArray(ValueLayout.JAVA_BYTE);
  }

  public static PublishRequest publish(String request, KeyRun keys, int firstBlock) {
    return new PublishRequest(0, request, keys, IntRun.range(firstBlock, keys.count()));
  }

  public static QueryRequest query(String request, KeyRun keys) {
    return new QueryRequest(0, 0, request, List.of(new QueryRequest.GroupKeys(0, keys)));
  }

  public static RestoreRequest restore(String request, int count, int firstBlock) {
    return new RestoreRequest(
        request, List.of(new RestoreRequest.GroupPages(0, 0, IntRun.range(firstBlock, count))));
  }

  @Override
  public void close() {
    client.close();
    buffer.close();
  }
}
