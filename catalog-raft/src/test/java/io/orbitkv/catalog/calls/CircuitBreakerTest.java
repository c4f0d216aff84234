package io.orbitkv.catalog.calls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Breakers, back-offs and budgets under a clock of the test. */
class CircuitBreakerTest {
  private long nanos;
  private final CircuitBreaker breaker =
      new CircuitBreaker(3, 100, 400, new SplittableRandom(1), () -> nanos);

  private void fail(int times) {
    for (int i = 0; i < times; i++) {
      assertTrue(breaker.tryCall());
      breaker.failed();
    }
  }

  @Test
  void shouldOpenAfterFailuresInARow() {
    fail(2);
    assertTrue(breaker.tryCall());
    breaker.answered();
    fail(2);
    assertEquals(CircuitBreaker.State.CLOSED, breaker.state());
    fail(1);
    assertEquals(CircuitBreaker.State.OPEN, breaker.state());
    assertFalse(breaker.tryCall());
  }

  @Test
  void shouldLetOneProbeThrough() {
    fail(3);
    nanos += TimeUnit.MILLISECONDS.toNanos(101);
    assertTrue(breaker.tryCall());
    assertEquals(CircuitBreaker.State.HALF_OPEN, breaker.state());
    assertFalse(breaker.tryCall());
    breaker.abandoned();
    assertTrue(breaker.tryCall());
    breaker.answered();
    assertEquals(CircuitBreaker.State.CLOSED, breaker.state());
    assertTrue(breaker.tryCall());
    assertTrue(breaker.tryCall());
  }

  @Test
  void shouldWaitLongerAfterEachFailedProbeAndForgetThat() {
    fail(3);
    long wait = 100;
    for (int i = 0; i < 5; i++) {
      nanos += TimeUnit.MILLISECONDS.toNanos(wait / 2) - 1;
      assertFalse(breaker.tryCall(), "before half of " + wait + " ms");
      nanos += TimeUnit.MILLISECONDS.toNanos(wait / 2) + 1;
      assertTrue(breaker.tryCall(), "after " + wait + " ms");
      breaker.failed();
      wait = Math.min(400, wait * 2);
    }
    assertEquals(6, breaker.openings());
    nanos += TimeUnit.MILLISECONDS.toNanos(400);
    assertTrue(breaker.tryCall());
    breaker.answered();
    fail(3);
    nanos += TimeUnit.MILLISECONDS.toNanos(100);
    assertTrue(breaker.tryCall());
  }

  @Test
  void shouldDrawTheSameWaitsFromTheSameSeed() {
    Backoff one = new Backoff(10, 1000, new SplittableRandom(7));
    Backoff two = new Backoff(10, 1000, new SplittableRandom(7));
    long whole = 10_000_000;
    for (int i = 0; i < 12; i++) {
      long wait = one.nextNanos();
      assertEquals(wait, two.nextNanos());
      assertTrue(wait >= whole / 2 && wait <= whole, wait + " of " + whole);
      whole = Math.min(1_000_000_000, whole * 2);
    }
  }

  @Test
  void shouldKeepToABudget() {
    CallBudget budget = new CallBudget(2, 100);
    assertTrue(budget.tryAcquire(60));
    assertFalse(budget.tryAcquire(41));
    assertTrue(budget.tryAcquire(40));
    assertFalse(budget.tryAcquire(0));
    budget.release(60);
    assertTrue(budget.tryAcquire(60));
    assertEquals(2, budget.refused());
    assertEquals(100, budget.bytes());
  }
}
