package io.orbitkv.state;

import net.jqwik.api.lifecycle.AroundPropertyHook;
import net.jqwik.api.lifecycle.PropertyExecutionResult;
import net.jqwik.api.lifecycle.PropertyExecutor;
import net.jqwik.api.lifecycle.PropertyLifecycleContext;

/** Prints every property's seed with the command that repeats it, and takes a seed back. */
public final class SeedReport implements AroundPropertyHook {

  private static final String SEED = "orbitkv.test.seed";

  @Override
  public PropertyExecutionResult aroundProperty(
      PropertyLifecycleContext context, PropertyExecutor property) {
    String wanted = System.getProperty(SEED);
    if (wanted != null) {
      context.attributes().setSeed(wanted);
    }
    PropertyExecutionResult result = property.execute();
    String test = context.containerClass().getSimpleName() + "#" + context.targetMethod().getName();
    System.out.printf(
        "%s %s: %d tries; repeat: ./mvnw -pl state test -Dtest='%s' -D%s=%s%n",
        test, result.status(), result.countTries(), test, SEED, result.seed().orElse("none"));
    return result;
  }
}
