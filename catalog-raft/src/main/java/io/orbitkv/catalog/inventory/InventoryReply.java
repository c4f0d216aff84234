package io.orbitkv.catalog.inventory;

import java.util.OptionalLong;

/** What a replica answers an owner's stream. */
public sealed interface InventoryReply {

  /**
   * The stream is taken.
   *
   * @param resumeAfter the position after which changes are wanted; empty when a snapshot is
   * @param windowFrames frames that may be under way at one time
   */
  record Accepted(OptionalLong resumeAfter, int windowFrames) implements InventoryReply {}

  /**
   * Frames were consumed, and may be followed by as many.
   *
   * @param framesConsumed how many since the stream opened
   * @param position the position of the view that lookups see; empty while there is none
   */
  record Progress(long framesConsumed, OptionalLong position) implements InventoryReply {}

  /**
   * Something is missing or wrong: the owner opens a new stream and learns where to go on.
   *
   * @param reason what
   */
  record Restart(String reason) implements InventoryReply {}

  /**
   * This run has no business here.
   *
   * @param reason why
   * @param remedy what helps
   */
  record Rejected(String reason, String remedy) implements InventoryReply {}
}
