package io.orbitkv.client.wire;

/** How a request stands, as its completion says. */
public enum Status {
  OK(1),
  READY(2),
  LOADING(3),
  MISS(4),
  REFUSED(5),
  CANCELLED(6),
  FAILED(7);

  private static final Status[] BY_CODE = new Status[8];

  static {
    for (Status status : values()) {
      BY_CODE[status.code] = status;
    }
  }

  private final int code;

  Status(int code) {
    this.code = code;
  }

  /** The status with this number on the wire; an unknown one counts as {@link #FAILED}. */
  public static Status of(int code) {
    return code > 0 && code < BY_CODE.length ? BY_CODE[code] : FAILED;
  }

  /** Its number on the wire. */
  public int code() {
    return code;
  }
}
