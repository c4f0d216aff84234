package io.orbitkv.state.identity;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One group as an engine declares it: one kind of state with one recovery rule. A spec by itself is
 * unchecked, because the legal values of a group depend on the others; {@link #firstProblem} checks
 * a model's groups together, and both {@link StateFormat} and the recovery contract refuse what it
 * finds.
 *
 * @param groupId the engine's number of the group, 0 to {@value Limits#MAX_GROUP_ID}, unique
 * @param component what the group holds
 * @param pageTokens tokens in one block, 1 to {@value Limits#MAX_TOKENS}
 * @param rule what a restore needs of the group
 * @param replicated whether every shard holds the same bytes, so that one copy is stored
 * @param bytesPerBlock bytes of one block in one shard, 1 to 64 GiB
 */
public record GroupSpec(
    int groupId,
    StateComponent component,
    int pageTokens,
    RecoveryRule rule,
    boolean replicated,
    long bytesPerBlock) {

  /** The first thing wrong with a model's groups, in the order given; empty when they are good. */
  public static Optional<InvalidField> firstProblem(List<GroupSpec> groups) {
    if (groups.isEmpty()) {
      return Optional.of(
          InvalidField.of("groups", 0, "no group declared", "declare at least one group"));
    }
    if (groups.size() > Limits.MAX_GROUPS) {
      return Optional.of(
          InvalidField.of(
              "groups",
              groups.size(),
              "too many groups",
              "declare at most " + Limits.MAX_GROUPS + " groups"));
    }
    Set<Integer> ids = new HashSet<>();
    long alignment = 1;
    for (int i = 0; i < groups.size(); i++) {
      GroupSpec group = groups.get(i);
      InvalidField problem = group.firstProblem();
      if (problem == null && !ids.add(group.groupId)) {
        problem =
            InvalidField.of(
                "groupId", group.groupId, "declared twice", "give every group its own id");
      }
      if (problem == null) {
        alignment = commonMultiple(alignment, group.pageTokens);
        if (alignment > Limits.MAX_TOKENS) {
          problem =
              InvalidField.of(
                  "pageTokens",
                  group.pageTokens,
                  "the groups' pages end together only every " + alignment + " tokens",
                  "choose page sizes with a common multiple of at most " + Limits.MAX_TOKENS);
        }
      }
      if (problem != null) {
        return Optional.of(problem.under("groups[" + i + "]"));
      }
    }
    return Optional.empty();
  }

  /**
   * The smallest number of tokens at which pages of all groups end together.
   *
   * @param groups groups in which {@link #firstProblem(List)} finds none
   */
  public static int alignmentTokens(List<GroupSpec> groups) {
    long alignment = 1;
    for (GroupSpec group : groups) {
      alignment = commonMultiple(alignment, group.pageTokens);
    }
    return Math.toIntExact(alignment);
  }

  private @Nullable InvalidField firstProblem() {
    InvalidField problem = Limits.checkRange("groupId", groupId, 0, Limits.MAX_GROUP_ID);
    if (problem == null) {
      problem = Limits.checkRange("pageTokens", pageTokens, 1, Limits.MAX_TOKENS);
    }
    if (problem == null) {
      problem = checkRule();
    }
    if (problem == null) {
      problem = Limits.checkRange("bytesPerBlock", bytesPerBlock, 1, Limits.MAX_BLOCK_BYTES);
    }
    return problem;
  }

  private @Nullable InvalidField checkRule() {
    return switch (rule) {
      case RecoveryRule.Prefix _ -> null;
      case RecoveryRule.Window(int tokens) ->
          Limits.checkRange("rule.window", tokens, 1, Limits.MAX_TOKENS);
      case RecoveryRule.Checkpoint _ ->
          component.allowsCheckpoint()
              ? null
              : new InvalidField(
                  "rule",
                  rule.toString(),
                  component + " is not restored by one page",
                  "declare prefix or window, or a recurrent, convolution or draft component");
    };
  }

  private static long commonMultiple(long a, long b) {
    long x = a;
    long y = b;
    while (y != 0) {
      long rest = x % y;
      x = y;
      y = rest;
    }
    return a / x * b;
  }
}
