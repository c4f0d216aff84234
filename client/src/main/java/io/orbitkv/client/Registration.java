package io.orbitkv.client;

import io.orbitkv.client.control.Register;
import java.util.List;

/**
 * What a session is registered with, again after every reconnect.
 *
 * @param register the declaration
 * @param buffers one per declared buffer, in order; they stay the caller's and must stay open
 */
public record Registration(Register register, List<HostBuffer> buffers) {
  /** Refuses buffers that are not those declared. */
  public Registration {
    buffers = List.copyOf(buffers);
    List<Register.Buffer> declared = register.buffers();
    int count = declared == null ? 0 : declared.size();
    if (buffers.size() != count) {
      throw new IllegalArgumentException(
          count + " buffers are declared, " + buffers.size() + " given");
    }
  }
}
