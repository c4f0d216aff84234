package io.orbitkv.client.wire;

import org.jspecify.annotations.Nullable;

/** What a submission asks for. */
public enum Op {
  PING(1, 0, false),
  QUERY(2, Flags.QUERY_WAIT | Flags.QUERY_DISCOVER | Flags.QUERY_REPLACE, true),
  POLL(3, 0, true),
  CANCEL(4, Flags.CANCEL_BY_REQUEST, false),
  PUBLISH(5, 0, true),
  RESTORE(6, Flags.RESTORE_PROGRESS | Flags.RESTORE_RELEASE, true),
  RELEASE(7, 0, false),
  PREPARE(8, Flags.QUERY_REPLACE, true);

  private static final Op[] BY_CODE = new Op[9];

  static {
    for (Op op : values()) {
      BY_CODE[op.code] = op;
    }
  }

  private final int code;
  private final int flagsMask;
  private final boolean needsSlot;

  Op(int code, int flagsMask, boolean needsSlot) {
    this.code = code;
    this.flagsMask = flagsMask;
    this.needsSlot = needsSlot;
  }

  /** The operation with this number on the wire, null if there is none. */
  public static @Nullable Op of(int code) {
    return code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
  }

  /** Its number on the wire. */
  public int code() {
    return code;
  }

  /** Whether these flags may go with it. */
  public boolean allowsFlags(int flags) {
    return (flags & ~flagsMask) == 0 && (this != QUERY || isOneMode(flags));
  }

  /** Waiting and discovering exclude each other, and only what waits can replace. */
  private static boolean isOneMode(int flags) {
    return switch (flags) {
      case 0, Flags.QUERY_WAIT, Flags.QUERY_DISCOVER, Flags.QUERY_WAIT | Flags.QUERY_REPLACE ->
          true;
      default -> false;
    };
  }

  /** Whether it may be answered LOADING with a notice to follow. */
  public boolean mayWait(int flags) {
    return switch (this) {
      case QUERY -> (flags & Flags.QUERY_WAIT) != 0;
      case PREPARE -> true;
      case PING, POLL, CANCEL, PUBLISH, RESTORE, RELEASE -> false;
    };
  }

  /** Whether it takes a slot of the arena. */
  public boolean needsSlot() {
    return needsSlot;
  }

  /** Whether its request has a payload. */
  public boolean hasPayload() {
    return needsSlot && this != POLL;
  }

  /** Whether its {@code handle} means something. */
  public boolean usesHandle() {
    return switch (this) {
      case POLL, CANCEL, RESTORE, RELEASE -> true;
      case PING, QUERY, PUBLISH, PREPARE -> false;
    };
  }
}
