package io.orbitkv.core.copy;

import io.orbitkv.core.checksum.Checksum;
import org.jspecify.annotations.Nullable;

/** A publish through a staging ring: whole blocks, summed by the kernel that gathers them. */
final class StagedSave extends StagedJob {
  private final PublishCopy copy;
  private final long limitBytes;
  private final int granuleBytes;
  private int next;

  StagedSave(PublishCopy copy, long limitBytes, int granuleBytes) {
    super(copy);
    this.copy = copy;
    this.limitBytes = limitBytes;
    this.granuleBytes = granuleBytes;
  }

  @Override
  boolean planned() {
    return next == copy.sourceBlocks().length;
  }

  @Override
  @Nullable Chunk plan() {
    if (planned()) {
      return null;
    }
    Chunk chunk = Chunk.whole(copy.layout(), copy.extentOffsets(), next, limitBytes, granuleBytes);
    next = chunk.to();
    return chunk;
  }

  @Override
  int[] pages(Chunk chunk) {
    return copy.sourceBlocks();
  }

  @Override
  SlotBoard.Work work(Chunk chunk) {
    return chunk.work(copy.operationId(), false, true);
  }

  /** The bytes are in the pool; the sums go behind them. */
  @Override
  void chunkDone(Chunk chunk, SlotBoard board, int slot) {
    GroupLayout layout = chunk.layout();
    int layers = layout.layerCount();
    for (int i = chunk.from(); i < chunk.to(); i++) {
      long trailer = copy.extentOffsets()[i] + layout.trailerOffset();
      long total = 0;
      for (int layer = 0; layer < layers; layer++) {
        long sum = board.sum(slot, (i - chunk.from()) * layers + layer);
        copy.pool().set(PublishCopy.SUM, trailer + 8L * layer, sum);
        total += sum;
      }
      copy.checksums()[i] = Checksum.finish(total, layout.payloadBytes());
    }
    Checksum.fence();
  }
}
