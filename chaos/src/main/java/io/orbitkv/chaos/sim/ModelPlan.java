package io.orbitkv.chaos.sim;

import io.orbitkv.state.Keys;
import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.ParallelShape;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.identity.StateComponent;
import io.orbitkv.state.identity.StateFormat;
import java.util.ArrayList;
import java.util.List;

/**
 * A small model: its namespace, groups and layers, the keys of its prompts, and the rules of
 * recovery a second time, written for reading and not for speed.
 *
 * @param shards that the host holds
 * @param keyBytes length of the engine's hashes
 */
record ModelPlan(
    String namespace, StateFormat format, int shards, int keyBytes, List<GroupPlan> groups) {

  /** Prompts that there are; two neighbours share their first tokens. */
  static final int PROMPTS = 4;

  private static final int SHARED_TOKENS = 8;
  private static final int PAGE = 4;

  /**
   * One group.
   *
   * @param segments of a block in each layer
   * @param segmentBytes of each segment of each layer
   */
  record GroupPlan(GroupSpec spec, int layers, int segments, int segmentBytes) {
    int page() {
      return spec.pageTokens();
    }

    /** Where the needed pages of a boundary begin. */
    int needFrom(int start, int boundary) {
      return switch (spec.rule()) {
        case RecoveryRule.Prefix _ -> start;
        case RecoveryRule.Window(int tokens) ->
            Math.max(start, boundary - (tokens + page() - 1) / page() * page());
        case RecoveryRule.Checkpoint _ -> Math.max(start, boundary - page());
      };
    }
  }

  /** Whether the page of a group that begins at a token is there. */
  @FunctionalInterface
  interface Found {
    boolean page(int group, int fromToken);
  }

  static ModelPlan draw(int number, Draws draws) {
    List<GroupPlan> groups = new ArrayList<>();
    int kind = draws.below(6);
    switch (kind) {
      case 0 ->
          groups.add(
              group(draws, 0, PAGE, StateComponent.ATTENTION_KV, new RecoveryRule.Prefix(), false));
      case 1 -> {
        groups.add(
            group(draws, 0, PAGE, StateComponent.ATTENTION_KV, new RecoveryRule.Prefix(), false));
        groups.add(
            group(draws, 1, PAGE, StateComponent.SWA, new RecoveryRule.Window(6), draws.oneIn(3)));
      }
      case 2 -> {
        groups.add(
            group(draws, 0, PAGE, StateComponent.ATTENTION_KV, new RecoveryRule.Prefix(), false));
        groups.add(
            group(
                draws,
                3,
                2 * PAGE,
                StateComponent.RECURRENT,
                new RecoveryRule.Checkpoint(),
                false));
      }
      case 3 ->
          groups.add(group(draws, 0, PAGE, StateComponent.MLA, new RecoveryRule.Prefix(), true));
      case 4 -> {
        groups.add(group(draws, 1, PAGE, StateComponent.SWA, new RecoveryRule.Window(9), false));
        groups.add(
            group(
                draws,
                2,
                PAGE,
                StateComponent.CONVOLUTION,
                new RecoveryRule.Checkpoint(),
                draws.oneIn(2)));
      }
      default -> {
        groups.add(group(draws, 0, PAGE, StateComponent.MLA, new RecoveryRule.Prefix(), true));
        groups.add(group(draws, 1, PAGE, StateComponent.INDEXER, new RecoveryRule.Prefix(), false));
      }
    }
    int shards = draws.oneIn(3) ? 1 : draws.between(2, 3);
    StateFormat format =
        new StateFormat(
            "model-" + kind,
            "engine",
            "bf16",
            "NHD",
            new ParallelShape(shards, 1, 1, 8),
            groups.stream().map(GroupPlan::spec).toList());
    return new ModelPlan(
        "m" + number, format, shards, draws.oneIn(2) ? 8 : 32, List.copyOf(groups));
  }

  private static GroupPlan group(
      Draws draws,
      int groupId,
      int page,
      StateComponent component,
      RecoveryRule rule,
      boolean replicated) {
    int layers = draws.between(1, 3);
    int segments = draws.between(1, 2);
    int[] sizes = {16, 24, 40, 20, 328};
    int segmentBytes = sizes[draws.below(draws.oneIn(3) ? 5 : 4)];
    GroupSpec spec =
        new GroupSpec(
            groupId, component, page, rule, replicated, (long) layers * segments * segmentBytes);
    return new GroupPlan(spec, layers, segments, segmentBytes);
  }

  /** A boundary is a multiple of this. */
  int alignment() {
    int largest = 1;
    for (GroupPlan group : groups) {
      largest = Math.max(largest, group.page());
    }
    return largest;
  }

  /** The slice of a block that holds a shard's bytes. */
  int slice(int group, int shard) {
    return groups.get(group).spec().replicated() ? 0 : shard;
  }

  int slices(int group) {
    return groups.get(group).spec().replicated() ? 1 : shards;
  }

  int indexOf(int groupId) {
    for (int g = 0; g < groups.size(); g++) {
      if (groups.get(g).spec().groupId() == groupId) {
        return g;
      }
    }
    return -1;
  }

  /** Keys of the pages of a prompt from token to token. */
  Keys keys(int prompt, int group, int fromToken, int toToken) {
    int page = groups.get(group).page();
    long[] numbers = new long[Math.max(0, toToken - fromToken) / page];
    for (int i = 0; i < numbers.length; i++) {
      int index = fromToken / page + i;
      boolean shared = (index + 1) * page <= SHARED_TOKENS;
      numbers[i] = (shared ? 100 + prompt / 2 : prompt) * 1_000L + index;
    }
    return Name.keys(keyBytes, numbers);
  }

  /** The longest legal boundary after {@code start} up to {@code end}, -1 if there is none. */
  int longestBoundary(int start, int end, Found found) {
    for (int boundary = end - end % alignment(); boundary > start; boundary -= alignment()) {
      if (legal(start, boundary, found)) {
        return boundary;
      }
    }
    return -1;
  }

  private boolean legal(int start, int boundary, Found found) {
    for (int g = 0; g < groups.size(); g++) {
      int page = groups.get(g).page();
      for (int token = groups.get(g).needFrom(start, boundary); token < boundary; token += page) {
        if (!found.page(g, token)) {
          return false;
        }
      }
    }
    return true;
  }
}
