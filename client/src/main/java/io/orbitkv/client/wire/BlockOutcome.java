package io.orbitkv.client.wire;

/** What became of one block of a publish. */
public enum BlockOutcome {
  /** Its bytes were copied. */
  STORED(0),
  /** This shard's slice was there already. */
  ALREADY(1),
  /** Another publish is copying it now. */
  ELSEWHERE(2),
  /** There was no room. */
  REFUSED(3);

  private final int code;

  BlockOutcome(int code) {
    this.code = code;
  }

  /** Its number on the wire. */
  public int code() {
    return code;
  }
}
