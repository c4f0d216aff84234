package io.orbitkv.transfer;

import java.time.Duration;
import java.util.List;

/**
 * Reads granted ranges of other hosts' pools, and serves those of its own. All methods may be
 * called from any thread, and none of them blocks but {@link #close}.
 */
public interface TransferEngine extends AutoCloseable {

  /** What carries the bytes, and why this was chosen. */
  Carrier carrier();

  /** Where peers reach this engine. */
  PeerEndpoint endpoint();

  /** The grants of this engine's pool. */
  GrantTable grants();

  /**
   * Begins a read. It ends within the deadline whatever the source does; a request that cannot be
   * begun ends at once.
   *
   * @param deadline from now, more than nothing
   */
  TransferRead read(
      PeerEndpoint source,
      Grant grant,
      List<RangeRead> ranges,
      RangeVerifier verifier,
      Duration deadline);

  /** What it has done and is doing. */
  TransferStats stats();

  /** Ends every read, here and for peers, and returns when nothing touches any pool any more. */
  @Override
  void close();

  /**
   * A way to move bytes.
   *
   * @param name as an operator knows it
   * @param reason why it is this one
   */
  record Carrier(String name, String reason) {}
}
