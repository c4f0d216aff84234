package io.orbitkv.client;

import io.orbitkv.client.control.Register;
import io.orbitkv.client.gpu.StagedPages;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a session is registered with, again after every reconnect.
 *
 * @param register the declaration
 * @param buffers one per declared HOST buffer, in order; they stay the caller's and must stay open
 * @param staged the pages behind CUDA_STAGED buffers, which stay the caller's too; null without
 */
public record Registration(
    Register register, List<HostBuffer> buffers, @Nullable StagedPages staged) {

  /** Pages in host memory, or none. */
  public Registration(Register register, List<HostBuffer> buffers) {
    this(register, buffers, null);
  }

  /** Refuses buffers that are not those declared. */
  public Registration {
    buffers = List.copyOf(buffers);
    if (buffers.size() != register.descriptors()) {
      throw new IllegalArgumentException(
          register.descriptors() + " HOST buffers are declared, " + buffers.size() + " given");
    }
    if ((staged != null) != (register.staging() != null)) {
      throw new IllegalArgumentException("staged pages come with a staging ring, and only then");
    }
  }
}
