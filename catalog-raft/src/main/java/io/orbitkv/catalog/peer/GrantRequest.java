package io.orbitkv.catalog.peer;

import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.inventory.Tier;
import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.StateKey;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/**
 * A peer asks for the right to read exact blocks.
 *
 * @param requester the run that will read
 * @param ownerRuntime the run that is asked; any other refuses
 * @param namespace the namespace of all blocks
 * @param format fingerprint of the requester's state format; a differing one is refused
 * @param blocks 1 to {@value #MAX_BLOCKS} blocks
 * @param validity how long the requester wants it
 */
public record GrantRequest(
    OwnerRun requester,
    UUID ownerRuntime,
    Namespace namespace,
    String format,
    List<Wanted> blocks,
    Duration validity) {
  /** The most blocks of one request. */
  public static final int MAX_BLOCKS = 4096;

  /** Copies the list. */
  public GrantRequest {
    blocks = List.copyOf(blocks);
  }

  /**
   * One block.
   *
   * @param key its exact key
   * @param tier where a candidate said it is
   * @param generation the generation that the candidate said
   */
  public record Wanted(StateKey key, Tier tier, long generation) {}
}
