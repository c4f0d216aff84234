package io.orbitkv.client.control;

import io.orbitkv.ffi.OwnedFd;
import java.util.List;

/**
 * One whole control frame as it was received. Whoever takes it owns its descriptors.
 *
 * @param json the payload, UTF-8
 * @param descriptors as many as the header says
 */
@SuppressWarnings("ArrayRecordComponent") // Compared by nobody; a copy of up to 1 MiB helps nobody.
public record Frame(FrameHeader header, byte[] json, List<OwnedFd> descriptors) {
  /** Copies the list. */
  public Frame {
    descriptors = List.copyOf(descriptors);
  }

  /** Closes the descriptors of a frame that nobody wants. */
  public void closeDescriptors() {
    descriptors.forEach(OwnedFd::close);
  }
}
