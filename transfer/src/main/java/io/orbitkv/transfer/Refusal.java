package io.orbitkv.transfer;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Why a source does not serve. The numbers are those of the wire and are never reused. */
public enum Refusal {
  UNSUPPORTED_VERSION(
      1, RefusalCategory.USER, "run versions of OrbitKV that share a transfer protocol"),
  WRONG_TOKEN(2, RefusalCategory.USER, "give both hosts the same transfer token"),
  WRONG_RUNTIME(3, RefusalCategory.STALE, "the source has restarted: look the block up again"),
  TOO_MANY_CONNECTIONS(4, RefusalCategory.RESOURCE, "try another source, or later"),
  UNKNOWN_GRANT(16, RefusalCategory.STALE, "ask the source for a new grant"),
  WRONG_SECRET(17, RefusalCategory.USER, "show the secret that came with the grant"),
  FOREIGN_RUNTIME(
      18,
      RefusalCategory.STALE,
      "the grant is of another run of the source: look the block up again"),
  REVOKED(19, RefusalCategory.STALE, "ask the source for a new grant"),
  EXPIRED(20, RefusalCategory.STALE, "ask the source for a new grant"),
  OUTSIDE_GRANT(21, RefusalCategory.USER, "read only ranges of the grant"),
  TOO_MUCH_IN_FLIGHT(22, RefusalCategory.RESOURCE, "wait for reads under way on this connection"),
  MALFORMED(23, RefusalCategory.USER, "send what the protocol page says");

  private static final Map<Integer, Refusal> BY_CODE = byCode();

  private final int code;
  private final RefusalCategory category;
  private final String remedy;

  Refusal(int code, RefusalCategory category, String remedy) {
    this.code = code;
    this.category = category;
    this.remedy = remedy;
  }

  /** Its number on the wire, 1 to 65535; 0 means served. */
  public int code() {
    return code;
  }

  public RefusalCategory category() {
    return category;
  }

  /** What to do about it. */
  public String remedy() {
    return remedy;
  }

  /** The refusal of a number, if there is one. */
  public static Optional<Refusal> of(int code) {
    return Optional.ofNullable(BY_CODE.get(code));
  }

  private static Map<Integer, Refusal> byCode() {
    Map<Integer, Refusal> all = new TreeMap<>();
    for (Refusal each : values()) {
      all.put(each.code, each);
    }
    return all;
  }
}
