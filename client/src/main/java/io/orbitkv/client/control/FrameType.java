package io.orbitkv.client.control;

import org.jspecify.annotations.Nullable;

/** What a control frame is. A reply's number is its request's plus one. */
public enum FrameType {
  HELLO(1),
  HELLO_OK(2),
  REGISTER(3),
  REGISTERED(4),
  HEALTH(5),
  HEALTH_OK(6),
  SESSIONS(7),
  SESSIONS_OK(8),
  UNREGISTER(9),
  UNREGISTERED(10),
  CLEANUP(11),
  CLEANED(12),
  REFUSED(128),
  CLOSING(129);

  private final int code;

  FrameType(int code) {
    this.code = code;
  }

  /** The type with this number on the wire, null if there is none. */
  public static @Nullable FrameType of(int code) {
    for (FrameType type : values()) {
      if (type.code == code) {
        return type;
      }
    }
    return null;
  }

  /** Its number on the wire. */
  public int code() {
    return code;
  }

  /** Whether a client sends it. */
  public boolean isRequest() {
    return code < REFUSED.code && (code & 1) == 1;
  }
}
