package io.orbitkv.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.client.Answer;
import io.orbitkv.client.ClientOptions;
import io.orbitkv.client.HostBuffer;
import io.orbitkv.client.Lease;
import io.orbitkv.client.OrbitClient;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.Registration;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.control.Register;
import io.orbitkv.client.control.Register.Component;
import io.orbitkv.client.control.Register.Format;
import io.orbitkv.client.control.Register.Group;
import io.orbitkv.client.control.Register.Parallel;
import io.orbitkv.client.control.Register.Rule;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.journal.Replayer;
import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.EngineShape;
import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.manager.workload.ScratchDir;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Engines whose bytes must not be mixed up, with a daemon in a process of its own. */
class MismatchTest {
  private static final int BLOCKS = 4;
  private static final EngineShape SHAPE =
      new EngineShape("first", "shared", 2, 1024, 16, 2 * BLOCKS);

  @Test
  void shouldRefuseEveryOtherFormatAndNameTheField() throws Exception {
    try (ScratchDir dir = ScratchDir.create("okv-chaos");
        ManagerProcess manager = start(dir)) {
      try (Engine first = Engine.connect(manager.socket(), SHAPE)) {
        assertTrue(first.client().ping() instanceof Answer.Ok<Long>);
        for (Map.Entry<String, Register> other : others().entrySet()) {
          Refusal refusal = refusal(manager, other.getValue());
          assertEquals(other.getKey(), refusal.field(), refusal.toString());
          assertTrue(refusal.is(RefusalCode.FORMAT_MISMATCH), refusal.toString());
        }
        assertEquals(1, manager.health().sessions());
      }
      try (Engine same =
          Engine.connect(
              manager.socket(), new EngineShape("second", "shared", 2, 1024, 16, 2 * BLOCKS))) {
        assertTrue(same.client().ping() instanceof Answer.Ok<Long>);
      }
    }
  }

  @Test
  void shouldNeverShowANamespaceTheBlocksOfAnother() throws Exception {
    try (ScratchDir dir = ScratchDir.create("okv-chaos")) {
      ManagerProcess manager = start(dir);
      try (Engine one = Engine.connect(manager.socket(), shape("one"));
          Engine two = Engine.connect(manager.socket(), shape("two"))) {
        publish(one, 100);
        assertInstanceOf(QueryResult.Miss.class, two.client().query(query(two)));
        assertTrue(
            !(two.client().discover(query(two)) instanceof QueryResult.Discovered(var answer))
                || answer.groups().getFirst().hitBlocks() == 0);
        publish(two, 200);
        restore(one, 100);
        restore(two, 200);
        // A lease of one is nothing to the other.
        Lease lease =
            assertInstanceOf(QueryResult.Ready.class, one.client().query(query(one))).lease();
        assertInstanceOf(
            RestoreResult.Refused.class, two.client().restore(lease, restoreRequest()));
      } finally {
        manager.close();
      }
      assertTrue(
          Replayer.run(
                  JournalReader.open(manager.journal()), ReplayOptions.VERIFY, ReplayHooks.NONE)
              .clean());
    }
  }

  private static ManagerProcess start(ScratchDir dir) {
    return ManagerProcess.start(dir.path(), List.of("--pool-size", "1mb"), List.of());
  }

  private static EngineShape shape(String namespace) {
    return new EngineShape("engine-" + namespace, namespace, 2, 1024, 16, 2 * BLOCKS);
  }

  /** The same keys in every namespace, and other bytes. */
  private static void publish(Engine engine, int firstContent) {
    for (int i = 0; i < BLOCKS; i++) {
      engine.fill(i, firstContent + i);
    }
    assertInstanceOf(
        PublishResult.Published.class,
        engine
            .client()
            .publish(new PublishRequest(0, "p", engine.keys(0, BLOCKS), IntRun.range(0, BLOCKS))));
  }

  private static void restore(Engine engine, int firstContent) {
    Lease lease =
        assertInstanceOf(QueryResult.Ready.class, engine.client().query(query(engine))).lease();
    assertInstanceOf(
        RestoreResult.Restored.class, engine.client().restore(lease, restoreRequest()));
    for (int i = 0; i < BLOCKS; i++) {
      engine.verify(BLOCKS + i, firstContent + i, "r");
    }
    assertTrue(engine.client().release(lease).orThrow());
  }

  private static QueryRequest query(Engine engine) {
    return new QueryRequest(
        0, 0, "q", List.of(new QueryRequest.GroupKeys(0, engine.keys(0, BLOCKS))));
  }

  private static RestoreRequest restoreRequest() {
    return new RestoreRequest(
        "r", List.of(new RestoreRequest.GroupPages(0, 0, IntRun.range(BLOCKS, BLOCKS))));
  }

  private static Refusal refusal(ManagerProcess manager, Register register) throws Exception {
    long bytes = Objects.requireNonNull(register.buffers()).getFirst().bytes();
    try (HostBuffer buffer = HostBuffer.create("orbitkv-chaos", bytes)) {
      Answer<OrbitClient> answer =
          OrbitClient.connect(
              ClientOptions.of(manager.socket()).withReconnect(false),
              new Registration(register, List.of(buffer)));
      return switch (answer) {
        case Answer.Refused<OrbitClient>(Refusal refusal) -> refusal;
        case Answer.Ok<OrbitClient>(OrbitClient client) -> {
          client.close();
          throw new AssertionError("was let in: " + register);
        }
      };
    }
  }

  /** Registrations that differ in one field each. */
  private static Map<String, Register> others() {
    Register bound = new EngineShape("second", "shared", 2, 1024, 16, 2 * BLOCKS).register();
    Format format = Objects.requireNonNull(bound.format());
    Parallel parallel = format.parallel();
    Group group = Objects.requireNonNull(bound.groups()).getFirst();
    Map<String, Register> others = new LinkedHashMap<>();
    others.put(
        "modelDigest",
        with(
            bound,
            new Format(
                "other",
                format.implementationDigest(),
                format.dtype(),
                format.layout(),
                parallel)));
    others.put(
        "implementationDigest",
        with(
            bound,
            new Format(format.modelDigest(), "other", format.dtype(), format.layout(), parallel)));
    others.put(
        "dtype",
        with(
            bound,
            new Format(
                format.modelDigest(),
                format.implementationDigest(),
                "bf16",
                format.layout(),
                parallel)));
    others.put(
        "layout",
        with(
            bound,
            new Format(
                format.modelDigest(),
                format.implementationDigest(),
                format.dtype(),
                "other",
                parallel)));
    others.put("parallel.tensorParallel", with(bound, parallel(format, new Parallel(2, 1, 1, 0))));
    others.put(
        "parallel.pipelineParallel", with(bound, parallel(format, new Parallel(1, 2, 1, 0))));
    others.put("parallel.contextParallel", with(bound, parallel(format, new Parallel(1, 1, 2, 0))));
    others.put("parallel.kvHeads", with(bound, parallel(format, new Parallel(1, 1, 1, 8))));
    others.put(
        "groups[0].component",
        with(bound, group(group, Component.DRAFT, 16, Rule.PREFIX, null, false)));
    others.put(
        "groups[0].pageTokens",
        with(bound, group(group, Component.ATTENTION_KV, 32, Rule.PREFIX, null, false)));
    others.put(
        "groups[0].rule",
        with(bound, group(group, Component.ATTENTION_KV, 16, Rule.WINDOW, 100, false)));
    others.put(
        "groups[0].replicated",
        with(bound, group(group, Component.ATTENTION_KV, 16, Rule.PREFIX, null, true)));
    others.put(
        "groups[0].bytesPerBlock",
        new EngineShape("second", "shared", 2, 2048, 16, 2 * BLOCKS).register());
    return others;
  }

  private static Format parallel(Format format, Parallel parallel) {
    return new Format(
        format.modelDigest(),
        format.implementationDigest(),
        format.dtype(),
        format.layout(),
        parallel);
  }

  private static Group group(
      Group group,
      Component component,
      int pageTokens,
      Rule rule,
      @org.jspecify.annotations.Nullable Integer windowTokens,
      boolean replicated) {
    return new Group(
        group.groupId(),
        component,
        pageTokens,
        rule,
        windowTokens,
        replicated,
        group.bytesPerBlock());
  }

  private static Register with(Register bound, Format format) {
    return new Register(
        bound.instance(),
        bound.namespace(),
        format,
        bound.shard(),
        bound.shardCount(),
        bound.role(),
        null,
        bound.groups(),
        bound.buffers(),
        bound.layers());
  }

  private static Register with(Register bound, Group group) {
    return new Register(
        bound.instance(),
        bound.namespace(),
        bound.format(),
        bound.shard(),
        bound.shardCount(),
        bound.role(),
        null,
        List.of(group),
        bound.buffers(),
        bound.layers());
  }
}
