package io.orbitkv.client.wire;

/** What became of one block of a publish. The ordinal is its number on the wire. */
public enum BlockOutcome {
  /** Its bytes were copied. */
  STORED,
  /** This shard's slice was there already. */
  ALREADY,
  /** Another publish is copying it now. */
  ELSEWHERE,
  /** There was no room. */
  REFUSED
}
