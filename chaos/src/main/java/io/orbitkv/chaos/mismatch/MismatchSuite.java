package io.orbitkv.chaos.mismatch;

import io.orbitkv.chaos.Daemons;
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
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.journal.Replayer;
import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.EngineShape;
import io.orbitkv.manager.workload.ManagerProcess;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Engines whose bytes must not be mixed up. A registration that differs in one field of the format
 * is refused with that field named; two namespaces with the same keys never see each other's
 * blocks.
 */
public final class MismatchSuite {
  private static final int BLOCKS = 4;
  private static final EngineShape SHAPE =
      new EngineShape("first", "shared", 2, 1024, 16, 2 * BLOCKS);

  private static final List<String> FLAGS = List.of("--pool-size", "1mb");

  private MismatchSuite() {}

  /**
   * What was done.
   *
   * @param formatsRefused registrations that differ in one field each, all refused
   * @param facts facts in the journal of the two namespaces
   */
  public record Report(int formatsRefused, long facts) {}

  /**
   * Runs the suite.
   *
   * @param dir an empty folder with a short path
   */
  public static Report run(Daemons daemons, Path dir) throws Exception {
    return new Report(refuseOtherFormats(daemons, dir), keepNamespacesApart(daemons, dir));
  }

  private static int refuseOtherFormats(Daemons daemons, Path dir) throws Exception {
    int refused = 0;
    try (ManagerProcess manager = daemons.start(dir, FLAGS)) {
      try (Engine first = Engine.connect(manager.socket(), SHAPE)) {
        check(first.client().ping() instanceof Answer.Ok<Long>, "the first engine is not served");
        for (Map.Entry<String, Register> other : others().entrySet()) {
          Refusal refusal = refusal(manager, other.getValue());
          check(
              other.getKey().equals(refusal.field()) && refusal.is(RefusalCode.FORMAT_MISMATCH),
              "%s differs, and the refusal is %s".formatted(other.getKey(), refusal));
          refused++;
        }
        check(manager.health().sessions() == 1, "a refused registration left a session");
      }
      try (Engine same =
          Engine.connect(
              manager.socket(), new EngineShape("second", "shared", 2, 1024, 16, 2 * BLOCKS))) {
        check(same.client().ping() instanceof Answer.Ok<Long>, "the same format is not served");
      }
    }
    return refused;
  }

  private static long keepNamespacesApart(Daemons daemons, Path dir) throws Exception {
    ManagerProcess manager = daemons.start(dir, FLAGS);
    try (Engine one = Engine.connect(manager.socket(), shape("one"));
        Engine two = Engine.connect(manager.socket(), shape("two"))) {
      publish(one, 100);
      check(
          two.client().query(query(two)) instanceof QueryResult.Miss,
          "a namespace was given the blocks of another");
      check(
          !(two.client().discover(query(two)) instanceof QueryResult.Discovered(var answer))
              || answer.groups().getFirst().hitBlocks() == 0,
          "a namespace sees the blocks of another");
      publish(two, 200);
      restore(one, 100);
      restore(two, 200);
      check(
          one.client().query(query(one)) instanceof QueryResult.Ready(Lease lease, _)
              && two.client().restore(lease, restoreRequest()) instanceof RestoreResult.Refused,
          "a lease of one namespace is honoured in another");
    } finally {
      manager.close();
    }
    Replay replay =
        Replayer.run(JournalReader.open(manager.journal()), ReplayOptions.VERIFY, ReplayHooks.NONE);
    check(replay.clean(), "the journal does not fold: " + replay);
    return replay.facts();
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  private static EngineShape shape(String namespace) {
    return new EngineShape("engine-" + namespace, namespace, 2, 1024, 16, 2 * BLOCKS);
  }

  /** The same keys in every namespace, and other bytes. */
  private static void publish(Engine engine, int firstContent) {
    for (int i = 0; i < BLOCKS; i++) {
      engine.fill(i, firstContent + i);
    }
    check(
        engine
                .client()
                .publish(
                    new PublishRequest(0, "p", engine.keys(0, BLOCKS), IntRun.range(0, BLOCKS)))
            instanceof PublishResult.Published,
        "an honest publish was refused");
  }

  private static void restore(Engine engine, int firstContent) {
    if (!(engine.client().query(query(engine)) instanceof QueryResult.Ready(Lease lease, _))
        || !(engine.client().restore(lease, restoreRequest()) instanceof RestoreResult.Restored)) {
      throw new AssertionError("what was published cannot be restored");
    }
    for (int i = 0; i < BLOCKS; i++) {
      check(
          engine.holds(BLOCKS + i, firstContent + i), "a namespace was given the bytes of another");
    }
    check(engine.client().release(lease).orThrow(), "an open lease was not there");
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
