package io.orbitkv.client.wire;

/**
 * The bounds of payloads that the Manager told in HELLO_OK.
 *
 * @param maxGroups groups of one request
 * @param maxKeysPerRequest keys of one QUERY or PUBLISH, blocks of one RESTORE
 */
public record PayloadLimits(int maxGroups, int maxKeysPerRequest) {
  /** The highest token position. */
  public static final int MAX_TOKEN = 1 << 24;

  /** The limits of this version. */
  public static final PayloadLimits STANDARD = new PayloadLimits(16, 32_768);
}
