package io.orbitkv.client.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.orbitkv.client.HostBuffer;
import io.orbitkv.client.OrbitClient;
import io.orbitkv.client.control.FrameType;
import io.orbitkv.client.control.Refused;
import io.orbitkv.client.control.Register;
import io.orbitkv.client.control.Register.Buffer;
import io.orbitkv.client.control.Register.BufferKind;
import io.orbitkv.client.control.Register.Group;
import io.orbitkv.client.control.Register.Layer;
import io.orbitkv.client.control.Register.Role;
import io.orbitkv.client.control.Register.Rule;
import io.orbitkv.ffi.Memfd;
import io.orbitkv.ffi.OwnedFd;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Contracts about what a registration may declare. */
public interface RegistrationContract extends Contract {
  @Test
  default void differingFormatIsRefusedWithTheField() throws IOException {
    String name = Contract.fresh("format");
    try (ContractEngine engine = ContractEngine.simple(name);
        OrbitClient client = engine.connect(manager())) {
      client.ping().orThrow();
      Register r = engine.register(name + "-b", Role.LOAD);
      Register.Format f = Objects.requireNonNull(r.format());
      Register.Format dtype =
          new Register.Format(
              f.modelDigest(), f.implementationDigest(), "fp8", f.layout(), f.parallel());
      Register.Format layout =
          new Register.Format(
              f.modelDigest(), f.implementationDigest(), f.dtype(), "HND", f.parallel());
      assertMismatch("dtype", engine, with(r, dtype, 1, groups(r), layers(r)));
      assertMismatch("layout", engine, with(r, layout, 1, groups(r), layers(r)));
      assertMismatch("shardCount", engine, with(r, f, 2, groups(r), layers(r)));
      Group g = groups(r).getFirst();
      Group pages = new Group(0, g.component(), 128, Rule.PREFIX, null, false, g.bytesPerBlock());
      assertMismatch("groups[0].pageTokens", engine, with(r, f, 1, List.of(pages), layers(r)));
      Layer a = layers(r).get(0);
      Layer b = layers(r).get(1);
      int half = a.segmentBytes() - 1024;
      Layer smaller = new Layer(0, 0, 0, 0, a.blockCount(), a.blockStride(), 1, 4096, half);
      Layer larger =
          new Layer(0, 1, 0, b.baseOffset(), b.blockCount(), 1536, 2, b.blockCount() * 1536L, 1536);
      assertMismatch("layers", engine, with(r, f, 1, groups(r), List.of(smaller, larger)), 1 << 18);
    }
  }

  @Test
  default void unsealedBufferIsRefused() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("unsealed"));
        Memfd unsealed = Memfd.create("unsealed", engine.buffer().bytes())) {
      Refused refused = refused(engine.register(), List.of(unsealed.descriptor()));
      assertEquals("BUFFER_NOT_SEALED", refused.name());
    }
  }

  @Test
  default void cudaBufferIsUnavailable() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("cuda"))) {
      Register r = engine.register();
      Register cuda =
          new Register(
              r.instance(),
              r.namespace(),
              r.format(),
              r.shard(),
              r.shardCount(),
              r.role(),
              null,
              r.groups(),
              List.of(new Buffer(BufferKind.CUDA_IPC, engine.buffer().bytes())),
              r.layers());
      Refused refused = refused(cuda, List.of());
      assertEquals("BUFFER_KIND", refused.name());
      assertEquals("UNAVAILABLE", refused.category().name());
    }
  }

  @Test
  default void layerOutOfBufferIsRefused() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("range"))) {
      Register r = engine.register();
      Layer a = layers(r).get(0);
      long maxInteger = (1L << 53) - 1;
      for (long base : new long[] {engine.buffer().bytes(), maxInteger}) {
        for (long stride : new long[] {4096, maxInteger}) {
          Layer bad = new Layer(0, 0, 0, base, a.blockCount(), stride, 1, 4096, 4096);
          Register changed =
              with(
                  r,
                  Objects.requireNonNull(r.format()),
                  1,
                  groups(r),
                  List.of(bad, layers(r).get(1)));
          Refused refused = refused(changed, List.of(engine.buffer().descriptor()));
          assertEquals("LAYER_OUT_OF_RANGE", refused.name());
          assertEquals("layers[0].baseOffset", refused.field());
        }
      }
    }
  }

  @Test
  default void unknownJsonFieldIsRefused() throws IOException {
    try (RawSession raw = new RawSession(manager())) {
      byte[] json = "{\"instance\":\"a\",\"expected\":1}".getBytes(StandardCharsets.UTF_8);
      Refused refused = RawSession.refused(raw.call(FrameType.CLEANUP, json, List.of()));
      assertEquals("UNKNOWN_FIELD", refused.name());
      assertEquals("expected", refused.field());
      assertEquals(false, refused.closing());
      byte[] empty = "{}".getBytes(StandardCharsets.UTF_8);
      assertEquals(
          FrameType.HEALTH_OK.code(), raw.call(FrameType.HEALTH, empty, List.of()).header().type());
    }
  }

  private void assertMismatch(String field, ContractEngine engine, Register register)
      throws IOException {
    assertMismatch(field, engine, register, engine.buffer().bytes());
  }

  private void assertMismatch(
      String field, ContractEngine engine, Register register, long bufferBytes) throws IOException {
    List<OwnedFd> fds = List.of(engine.buffer().descriptor());
    if (bufferBytes == engine.buffer().bytes()) {
      Refused refused = refused(register, fds);
      assertEquals("FORMAT_MISMATCH " + field, refused.name() + " " + refused.field());
      return;
    }
    try (HostBuffer other = HostBuffer.create("other", bufferBytes)) {
      Register changed =
          new Register(
              register.instance(),
              register.namespace(),
              register.format(),
              register.shard(),
              register.shardCount(),
              register.role(),
              null,
              register.groups(),
              List.of(new Buffer(BufferKind.HOST, bufferBytes)),
              register.layers());
      Refused refused = refused(changed, List.of(other.descriptor()));
      assertEquals("FORMAT_MISMATCH " + field, refused.name() + " " + refused.field());
    }
  }

  private Refused refused(Register register, List<OwnedFd> fds) throws IOException {
    try (RawSession raw = new RawSession(manager())) {
      return RawSession.refused(raw.call(FrameType.REGISTER, register.encode(), fds));
    }
  }

  private static List<Group> groups(Register register) {
    return Objects.requireNonNull(register.groups());
  }

  private static List<Layer> layers(Register register) {
    return new ArrayList<>(Objects.requireNonNull(register.layers()));
  }

  private static Register with(
      Register r, Register.Format format, int shardCount, List<Group> groups, List<Layer> layers) {
    return new Register(
        r.instance(),
        r.namespace(),
        format,
        r.shard(),
        shardCount,
        r.role(),
        null,
        groups,
        r.buffers(),
        layers);
  }
}
