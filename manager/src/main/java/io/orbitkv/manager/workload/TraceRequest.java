package io.orbitkv.manager.workload;

/**
 * One request of a trace.
 *
 * <p>A block's number stands for the block's tokens and everything before them, so that two
 * requests with the same leading numbers have the same beginning.
 */
public final class TraceRequest {
  private final long timestampMillis;
  private final int inputTokens;
  private final int outputTokens;
  private final long[] blocks;

  /**
   * @param timestampMillis when it came, from the beginning of the trace
   * @param blocks the numbers of its input's blocks, in order; kept, not copied
   */
  public TraceRequest(long timestampMillis, int inputTokens, int outputTokens, long[] blocks) {
    this.timestampMillis = timestampMillis;
    this.inputTokens = inputTokens;
    this.outputTokens = outputTokens;
    this.blocks = blocks;
  }

  public long timestampMillis() {
    return timestampMillis;
  }

  public int inputTokens() {
    return inputTokens;
  }

  public int outputTokens() {
    return outputTokens;
  }

  public int blockCount() {
    return blocks.length;
  }

  /** The number of one of its blocks. */
  public long block(int index) {
    return blocks[index];
  }
}
