package io.orbitkv.state.recovery;

/**
 * The token positions {@code [start, end)} that one group must supply. Both ends are multiples of
 * the group's page; an empty range has {@code start == end}.
 *
 * @param groupId the group's declared id
 * @param start the first position
 * @param end the position after the last
 */
public record GroupRange(int groupId, int start, int end) {

  /** {@code (groupId,start,end)}. */
  @Override
  public String toString() {
    return "(" + groupId + "," + start + "," + end + ")";
  }
}
