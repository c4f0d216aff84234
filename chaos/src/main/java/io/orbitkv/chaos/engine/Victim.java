package io.orbitkv.chaos.engine;

import io.orbitkv.client.Lease;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.EngineShape;
import java.util.List;
import java.util.Random;

/**
 * An engine process that is made to be killed: it publishes, asks and restores large blocks without
 * a pause, says what it begins, and gives few leases back.
 */
public final class Victim {
  static final String QUERY = "query";
  static final String RESTORE = "restore";
  static final String PUBLISH = "publish";

  private static final int LAYERS = 8;
  private static final int LAYER_BYTES = 64 << 10;
  private static final int PAGES = 64;
  private static final int PAGE_TOKENS = 16;
  private static final int CONVERSATIONS = 12;

  private Victim() {}

  /**
   * Runs until it is killed.
   *
   * @param arguments socket, seed
   */
  public static void main(String[] arguments) {
    Random random = new Random(Long.parseLong(arguments[1]));
    EngineShape shape = new EngineShape("victim", "kills", LAYERS, LAYER_BYTES, PAGE_TOKENS, PAGES);
    try (Engine engine = Engine.connect(arguments[0], shape, false)) {
      while (true) {
        converse(engine, random);
      }
    }
  }

  private static void converse(Engine engine, Random random) {
    long first = random.nextInt(CONVERSATIONS) * 1_000L;
    int count = 1 + random.nextInt(PAGES / 2);
    KeyRun keys = engine.keys(first, count);
    System.out.println(QUERY);
    QueryResult answer =
        engine
            .client()
            .query(new QueryRequest(0, 0, "victim", List.of(new QueryRequest.GroupKeys(0, keys))));
    int hits = 0;
    if (answer instanceof QueryResult.Ready(Lease lease, var found)) {
      hits = found.groups().getFirst().hitBlocks();
      System.out.println(RESTORE);
      RestoreResult result =
          engine
              .client()
              .restore(
                  lease,
                  new RestoreRequest(
                      "victim",
                      List.of(new RestoreRequest.GroupPages(0, 0, IntRun.range(0, hits)))));
      if (result instanceof RestoreResult.Restored) {
        engine.verify(0, first, "victim");
      }
      if (random.nextInt(4) != 0) {
        var _ = engine.client().release(lease);
      }
    }
    if (hits < count) {
      for (int i = hits; i < count; i++) {
        engine.fill(PAGES / 2 + i, first + i);
      }
      System.out.println(PUBLISH);
      var _ =
          engine
              .client()
              .publish(
                  new PublishRequest(
                      0,
                      "victim",
                      keys.slice(hits, count - hits),
                      IntRun.range(PAGES / 2 + hits, count - hits)));
    }
  }
}
