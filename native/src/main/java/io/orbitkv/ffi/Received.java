package io.orbitkv.ffi;

import java.util.List;

/** What one receive on a {@link UnixSocket} gave. */
public sealed interface Received {

  /**
   * Bytes, and the descriptors that came with them.
   *
   * @param bytes how many, at least 1
   * @param descriptors close-on-exec, in the order sent; the receiver owns them
   */
  record Data(int bytes, List<OwnedFd> descriptors) implements Received {
    /** Copies the list. */
    public Data {
      descriptors = List.copyOf(descriptors);
    }
  }

  /**
   * Bytes, but some descriptors did not arrive: the peer sent more than were expected, or this
   * process ran out of them. Those that did arrive are closed already, since which ones are missing
   * is unknown.
   *
   * @param bytes how many bytes came
   * @param closedDescriptors how many descriptors arrived and were closed
   */
  record DescriptorsLost(int bytes, int closedDescriptors) implements Received {}

  /** Nothing is there yet. */
  record WouldBlock() implements Received {}

  /** The peer has closed or shut down its side. */
  record EndOfStream() implements Received {}
}
