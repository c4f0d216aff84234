package io.orbitkv.core;

import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.ParallelShape;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.identity.StateComponent;
import io.orbitkv.state.identity.StateFormat;
import java.util.List;

/** Formats of small models with 4-token pages and two layers of 64 bytes a block. */
final class Formats {
  static final int PAGE = 4;
  static final int LAYERS = 2;
  static final int LAYER_BYTES = 64;
  static final int EXTENT_BYTES = 512;

  private Formats() {}

  static GroupSpec prefix(int groupId) {
    return group(groupId, StateComponent.ATTENTION_KV, new RecoveryRule.Prefix(), false);
  }

  static GroupSpec replicated(int groupId) {
    return group(groupId, StateComponent.MLA, new RecoveryRule.Prefix(), true);
  }

  static GroupSpec window(int groupId, int tokens) {
    return group(groupId, StateComponent.SWA, new RecoveryRule.Window(tokens), false);
  }

  private static GroupSpec group(
      int groupId, StateComponent component, RecoveryRule rule, boolean replicated) {
    return new GroupSpec(groupId, component, PAGE, rule, replicated, LAYERS * LAYER_BYTES);
  }

  static StateFormat of(String dtype, GroupSpec... groups) {
    return new StateFormat(
        "model", "engine", dtype, "NHD", new ParallelShape(1, 1, 1, 8), List.of(groups));
  }

  static StateFormat of(GroupSpec... groups) {
    return of("bf16", groups);
  }
}
