package io.orbitkv.manager;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.journal.Replayer;
import io.orbitkv.state.HostState;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.IntPredicate;

/**
 * Blocks of a test whose keys and bytes follow from a number, and what a journal says of them.
 * Blocks of one number are published together and are a prompt of their own.
 */
final class KeptBlocks {
  static final int EACH = 16;

  private static final int SEED_BLOCKS = 1_000;

  private KeptBlocks() {}

  static KeyRun keys(long number) {
    return Engine.keys(number, EACH);
  }

  /** Puts the bytes of a number's blocks into the first pages of an engine. */
  static void fill(Engine engine, long number) {
    for (int block = 0; block < EACH; block++) {
      engine.fill(block, number * SEED_BLOCKS + block);
    }
  }

  /** What the facts say, read as {@code orbitkv replay --verify} does. */
  static HostState fold(Path journal) throws IOException {
    Replay replay =
        Replayer.run(JournalReader.open(journal), ReplayOptions.VERIFY, ReplayHooks.NONE);
    assertTrue(replay.clean(), () -> "the journal is whole: " + replay.ending());
    return replay.state();
  }

  /** The leading blocks of a number for whose slot something holds. */
  static int leading(HostState state, long number, IntPredicate holds) {
    KeyRun keys = keys(number);
    for (int block = 0; block < EACH; block++) {
      int slot = state.findSlot(1, 0, keys.packed(), keys.offset(block), keys.keyBytes());
      if (slot < 0 || !holds.test(slot)) {
        return block;
      }
    }
    return EACH;
  }

  /** Waits for as many blocks of a number as there are, and compares every byte of them. */
  static int restored(Engine engine, long number) {
    QueryResult result = engine.client.queryWaiting(Engine.query("q" + number, keys(number)), 0);
    if (result instanceof QueryResult.Loading loading) {
      result = engine.client.awaitAnswer(loading.ticket(), 10_000);
    }
    if (result instanceof QueryResult.Miss) {
      return 0;
    }
    QueryResult.Ready ready = assertInstanceOf(QueryResult.Ready.class, result);
    int blocks = ready.answer().boundaryToken() / Engine.PAGE_TOKENS;
    int target = Engine.BLOCKS / 2;
    assertInstanceOf(
        RestoreResult.Restored.class,
        engine.client.restore(ready.lease(), Engine.restore("r" + number, blocks, target)));
    for (int block = 0; block < blocks; block++) {
      engine.fill(0, number * SEED_BLOCKS + block);
      assertArrayEquals(
          engine.page(0), engine.page(target + block), "block " + block + " of " + number);
    }
    engine.client.release(ready.lease());
    return blocks;
  }
}
