package io.orbitkv.transfer;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

/**
 * A source's authorization of an exact read.
 *
 * @param id 128 random bits
 * @param secret what the reader shows with it
 * @param runtime the run of the source that gave it
 * @param ranges what may be read, of the source's pool
 * @param validFor for how long from its making new reads are admitted
 */
public record Grant(
    UUID id, Secret secret, UUID runtime, List<PoolRange> ranges, Duration validFor) {
  public Grant {
    ranges = List.copyOf(ranges);
  }
}
