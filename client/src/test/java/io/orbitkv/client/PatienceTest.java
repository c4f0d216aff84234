package io.orbitkv.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PatienceTest {
  @Test
  void shouldLookWhileAnswersComeSoon() {
    Patience patience = new Patience(2);
    for (int i = 0; i < 100; i++) {
      assertTrue(patience.looks());
      patience.looked(i % Patience.MISSES_TO_DOUBT == 0);
    }
  }

  @Test
  void shouldLookNowAndThenWhileAnswersAreSlow() {
    Patience patience = new Patience(2);
    int looks = 0;
    int sleeps = Patience.MISSES_TO_DOUBT + 10 * Patience.RETRY_EVERY;
    for (int i = 0; i < sleeps; i++) {
      if (patience.looks()) {
        looks++;
        patience.looked(false);
      }
    }
    assertEquals(Patience.MISSES_TO_DOUBT + 10, looks);
  }

  @Test
  void shouldTrustAgainAfterOneLookThatFound() {
    Patience patience = new Patience(2);
    for (int i = 0; i < Patience.MISSES_TO_DOUBT; i++) {
      patience.looked(false);
    }
    assertFalse(patience.looks());
    patience.looked(true);
    assertTrue(patience.looks());
  }

  @Test
  void shouldNotLookOnOneProcessor() {
    assertFalse(new Patience(1).looks());
  }
}
