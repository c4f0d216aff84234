package io.orbitkv.client.control;

import io.orbitkv.client.wire.Refusal;

/** What reading from a control connection gave. */
public sealed interface FrameRead {
  /** A whole frame. */
  record Complete(Frame frame) implements FrameRead {}

  /** Not all of it is there yet. */
  record Incomplete() implements FrameRead {}

  /**
   * The peer broke the frame rules; the connection has to be closed.
   *
   * @param refusal what to answer first
   * @param correlationId of the answer, 0 if it could not be read
   * @param answerable false if the peer speaks some other protocol, so that an answer means nothing
   */
  record Broken(Refusal refusal, long correlationId, boolean answerable) implements FrameRead {}

  /**
   * The peer is gone.
   *
   * @param insideFrame whether it stopped in the middle of a frame
   */
  record Ended(boolean insideFrame) implements FrameRead {}
}
