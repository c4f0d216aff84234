package io.orbitkv.state.identity;

/**
 * Which part of the tail behind the engine's own prefix a group needs before the engine may resume
 * at a boundary. A rule is a declaration; {@link GroupSpec#firstProblem} checks it.
 */
public sealed interface RecoveryRule {

  /** Every page of the tail. */
  record Prefix() implements RecoveryRule {
    @Override
    public String toString() {
      return "prefix";
    }
  }

  /**
   * The pages that hold the last {@code tokens} tokens before the boundary, capped by the tail.
   *
   * @param tokens the window, 1 to {@value Limits#MAX_TOKENS} tokens; rounded up to whole pages
   */
  record Window(int tokens) implements RecoveryRule {
    @Override
    public String toString() {
      return "window:" + tokens;
    }
  }

  /** The one page that ends at the boundary. */
  record Checkpoint() implements RecoveryRule {
    @Override
    public String toString() {
      return "checkpoint";
    }
  }
}
