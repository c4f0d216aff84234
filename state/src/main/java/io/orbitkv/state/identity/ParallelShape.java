package io.orbitkv.state.identity;

import org.jspecify.annotations.Nullable;

/**
 * How a model is cut into shards. Two engines that cut it differently store different slices under
 * the same hash, so all of it is part of the format.
 *
 * @param tensorParallel ranks that split the heads, at least 1
 * @param pipelineParallel ranks that split the layers, at least 1
 * @param contextParallel ranks that split the tokens of a block, at least 1
 * @param kvHeads KV heads of the whole model before it is cut, 0 to 65,536; 0 where there are none
 */
public record ParallelShape(
    int tensorParallel, int pipelineParallel, int contextParallel, int kvHeads) {

  /**
   * Takes numbers that were checked before.
   *
   * @throws IllegalArgumentException when {@link #of} would refuse them
   */
  public ParallelShape {
    Checked.require(check(tensorParallel, pipelineParallel, contextParallel, kvHeads));
  }

  /** Checks untrusted numbers. */
  public static Checked<ParallelShape> of(
      long tensorParallel, long pipelineParallel, long contextParallel, long kvHeads) {
    InvalidField problem = check(tensorParallel, pipelineParallel, contextParallel, kvHeads);
    return problem == null
        ? new Checked.Valid<>(
            new ParallelShape(
                (int) tensorParallel, (int) pipelineParallel, (int) contextParallel, (int) kvHeads))
        : new Checked.Invalid<>(problem);
  }

  /** The ranks of the model: all dimensions multiplied, 1 to {@value Limits#MAX_RANKS}. */
  public int ranks() {
    return tensorParallel * pipelineParallel * contextParallel;
  }

  private static @Nullable InvalidField check(
      long tensorParallel, long pipelineParallel, long contextParallel, long kvHeads) {
    InvalidField problem = Limits.checkRange("tensorParallel", tensorParallel, 1, Limits.MAX_RANKS);
    if (problem == null) {
      problem = Limits.checkRange("pipelineParallel", pipelineParallel, 1, Limits.MAX_RANKS);
    }
    if (problem == null) {
      problem = Limits.checkRange("contextParallel", contextParallel, 1, Limits.MAX_RANKS);
    }
    if (problem == null) {
      problem = Limits.checkRange("kvHeads", kvHeads, 0, 65_536);
    }
    if (problem == null) {
      long ranks = tensorParallel * pipelineParallel * contextParallel;
      problem = Limits.checkRange("ranks", ranks, 1, Limits.MAX_RANKS);
    }
    return problem;
  }
}
