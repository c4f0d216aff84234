package io.orbitkv.manager.workload;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Requests in the order in which they came.
 *
 * @param blockTokens tokens of a block
 */
public record Trace(List<TraceRequest> requests, int blockTokens) {
  /** Tokens of a block in the traces that Mooncake published. */
  public static final int MOONCAKE_BLOCK_TOKENS = 512;

  public Trace {
    requests = List.copyOf(requests);
  }

  /** Its first requests. */
  public Trace first(int count) {
    return count >= requests.size() ? this : new Trace(requests.subList(0, count), blockTokens);
  }

  /** The blocks of all requests, repeated ones counted again. */
  public long totalBlocks() {
    return requests.stream().mapToLong(TraceRequest::blockCount).sum();
  }

  /** How many different blocks there are. */
  public int distinctBlocks() {
    Set<Long> seen = new HashSet<>();
    for (TraceRequest request : requests) {
      for (int i = 0; i < request.blockCount(); i++) {
        seen.add(request.block(i));
      }
    }
    return seen.size();
  }

  /** The blocks of the longest request. */
  public int longestBlocks() {
    return requests.stream().mapToInt(TraceRequest::blockCount).max().orElse(0);
  }
}
