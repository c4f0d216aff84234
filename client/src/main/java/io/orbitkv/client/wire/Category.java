package io.orbitkv.client.wire;

/** What a refused caller should do about it; the hundreds digit of a refusal's code. */
public enum Category {
  /** The request is wrong: fix the caller. */
  USER(1),
  /** No room now: go on without the cache. */
  RESOURCE(2),
  /** It belongs to something that is over: drop the handle and ask again. */
  STALE(3),
  /** Not offered here, or not now. */
  UNAVAILABLE(4),
  /** The Manager failed at it: recompute and report. */
  INTERNAL(5);

  private final int code;

  Category(int code) {
    this.code = code;
  }

  /** The category with this number on the wire; an unknown one counts as {@link #INTERNAL}. */
  public static Category of(int code) {
    for (Category category : values()) {
      if (category.code == code) {
        return category;
      }
    }
    return INTERNAL;
  }

  /** Its number on the wire. */
  public int code() {
    return code;
  }
}
