package io.orbitkv.core.remote;

import io.orbitkv.state.identity.StateFormat;

/** What two hosts must agree on before one reads the other's bytes. */
public final class GrantFormat {
  private GrantFormat() {}

  /** The format's fingerprint and how many shards' slices a host holds: {@code FINGERPRINT/N}. */
  public static String of(StateFormat format, int shardCount) {
    return format.fingerprint() + "/" + shardCount;
  }
}
