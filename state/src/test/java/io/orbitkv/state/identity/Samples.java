package io.orbitkv.state.identity;

import java.util.List;

/** Values that tests share. */
public final class Samples {

  public static final Namespace NAMESPACE = new Namespace("meta-llama/Llama-3.1-8B");
  public static final ParallelShape SINGLE = new ParallelShape(1, 1, 1, 8);

  private Samples() {}

  public static GroupSpec group(int id, int pageTokens, RecoveryRule rule) {
    StateComponent component =
        switch (rule) {
          case RecoveryRule.Prefix _ -> StateComponent.ATTENTION_KV;
          case RecoveryRule.Window _ -> StateComponent.SWA;
          case RecoveryRule.Checkpoint _ -> StateComponent.RECURRENT;
        };
    return new GroupSpec(id, component, pageTokens, rule, false, 4096);
  }

  public static StateFormat format(GroupSpec... groups) {
    return new StateFormat(
        "sha256:model", "engine-1.2", "bfloat16", "NHD", SINGLE, List.of(groups));
  }

  public static BlockHash hash(int... bytes) {
    byte[] out = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      out[i] = (byte) bytes[i];
    }
    return BlockHash.of(out).orElseThrow();
  }
}
