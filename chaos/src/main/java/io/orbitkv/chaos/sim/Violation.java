package io.orbitkv.chaos.sim;

import java.util.function.Supplier;

/**
 * A rule does not hold. An error, because what a copy or the loop does with exceptions must not
 * hide it.
 */
final class Violation extends Error {
  private static final long serialVersionUID = 1L;

  private final Rule rule;

  Violation(Rule rule, String message) {
    super(message);
    this.rule = rule;
  }

  Violation(Rule rule, String message, Throwable cause) {
    super(message, cause);
    this.rule = rule;
  }

  Rule rule() {
    return rule;
  }

  static void require(boolean holds, Rule rule, Supplier<String> message) {
    if (!holds) {
      throw new Violation(rule, message.get());
    }
  }
}
