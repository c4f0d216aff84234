package io.orbitkv.manager.bench;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What every benchmark takes. */
final class BenchOptions {
  @Option(names = "--json", paramLabel = "FILE", description = "Also write the figures as JSON.")
  private @Nullable Path json;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "7",
      description = "Rounds; figures are medians over them. Default: ${DEFAULT-VALUE}.")
  private int rounds = 7;

  @Nullable Path json() {
    return json;
  }

  int rounds() {
    return Math.clamp(rounds, 1, 1_000);
  }
}
