package io.orbitkv.client.contract;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.orbitkv.client.Answer;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.wire.RefusalCode;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Assertions;

/** What the parts of the suite share: the Manager, fresh names, and how results are checked. */
public interface Contract {
  /** Counts names and key seeds, so that contracts never meet in one Manager. */
  AtomicLong COUNT = new AtomicLong(System.nanoTime() & 0xFFFFFF);

  /** The Manager, running. */
  ManagerUnderTest manager();

  /** A name for an instance and namespace that no other contract has. */
  static String fresh(String contract) {
    return contract + "-" + COUNT.incrementAndGet();
  }

  /** A seed for keys that no other contract has. */
  static long seed() {
    return COUNT.incrementAndGet();
  }

  /** The answer is a lease. */
  static QueryResult.Ready ready(QueryResult result) {
    return assertInstanceOf(QueryResult.Ready.class, result, result.toString());
  }

  /** The answer is a refusal or failure with this code. */
  static void assertRefused(RefusalCode code, Object result) {
    String name =
        switch (result) {
          case Answer.Refused<?> refused -> refused.refusal().name();
          case QueryResult.Refused refused -> refused.refusal().name();
          case RestoreResult.Refused refused -> refused.refusal().name();
          case PublishResult.Refused refused -> refused.refusal().name();
          default -> result.toString();
        };
    Assertions.assertEquals(code.name(), name);
  }

  /** Something becomes true within three seconds. */
  static void eventually(String what, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + 3_000_000_000L;
    while (!condition.getAsBoolean()) {
      Assertions.assertTrue(System.nanoTime() < deadline, "in time: " + what);
      Thread.sleep(5);
    }
  }
}
