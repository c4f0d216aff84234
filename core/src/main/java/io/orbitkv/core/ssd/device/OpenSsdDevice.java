package io.orbitkv.core.ssd.device;

import io.orbitkv.ffi.Shortfall;
import java.util.List;

/**
 * A device and how it was chosen.
 *
 * @param chosen {@link SsdBackend#URING} or {@link SsdBackend#POSIX}
 * @param reason why, in words for a log, {@code /status} and {@code doctor}
 * @param shortfalls what was not granted on the way
 */
public record OpenSsdDevice(
    SsdDevice device, SsdBackend chosen, String reason, List<Shortfall> shortfalls) {
  /** Copies the list. */
  public OpenSsdDevice {
    shortfalls = List.copyOf(shortfalls);
  }
}
