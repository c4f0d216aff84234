package io.orbitkv.catalog.bench;

import java.io.IOException;
import java.util.Arrays;

/** Prints figures: {@code table [ROWS]} or {@code visibility [OWNERS RATE SECONDS]}. */
public final class CatalogBench {
  private CatalogBench() {}

  /** Runs one benchmark. */
  public static void main(String[] args) throws IOException, InterruptedException {
    String which = args.length == 0 ? "" : args[0];
    int[] numbers = Arrays.stream(args).skip(1).mapToInt(Integer::parseInt).toArray();
    switch (which) {
      case "table" -> print(TableBench.run(numbers.length > 0 ? numbers[0] : 1_000_000));
      case "visibility" ->
          print(
              numbers.length == 3
                  ? VisibilityBench.run(numbers[0], numbers[1], numbers[2])
                  : VisibilityBench.run(3, 4000, 20));
      default -> {
        System.err.println("give: table [ROWS], or: visibility [OWNERS RATE SECONDS]");
        System.exit(2);
      }
    }
  }

  private static void print(TableFigures figures) {
    System.out.printf(
        "rows of each of two owners  %d%n"
            + "bytes a row                 %.1f%n"
            + "lookups a second, 1 thread  %.0f%n"
            + "64 keys, calm               %s%n"
            + "64 keys, while removing     %s%n"
            + "removal took                %.0f ms%n",
        figures.rows(),
        figures.bytesPerRow(),
        figures.lookupsPerSecond(),
        figures.calm(),
        figures.removing(),
        figures.removingMillis());
  }

  private static void print(VisibilityFigures figures) {
    System.out.printf(
        "owners x changes a second   %d x %d%n"
            + "visible after               %s%n"
            + "rows, expected              %d, %d%n",
        figures.owners(),
        figures.changesPerSecond(),
        figures.visibility(),
        figures.rows(),
        figures.expectedRows());
  }
}
