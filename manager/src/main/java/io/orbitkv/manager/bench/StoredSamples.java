package io.orbitkv.manager.bench;

import io.orbitkv.core.checksum.Checksum;
import io.orbitkv.core.ssd.device.SsdDevice;
import io.orbitkv.ffi.DiskFile;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.workload.BlockPattern;
import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.TracePlayer;
import io.orbitkv.manager.workload.TraceRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The bytes of some blocks of {@link SsdFacts} in the tier's file, where the facts say that they
 * lie, so that a Manager can be asked for them. The others have a sum that no bytes have, and what
 * lies in their place was never written.
 */
final class StoredSamples implements SsdFacts.Sums, AutoCloseable {
  /** Blocks of one sample, which one query asks for. */
  static final int RUN = 16;

  private static final int RUNS = 32;
  private static final ValueLayout.OfLong SUM =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final DiskFile file;
  private final long distance;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment extent =
      arena.allocate(SsdFacts.EXTENT_BYTES, SsdDevice.ALIGNMENT_BYTES);
  private final BlockPattern pattern = new BlockPattern(SsdFacts.SHAPE.blockBytes());

  private StoredSamples(DiskFile file, int extents) {
    this.file = file;
    this.distance = extents / RUNS;
  }

  /**
   * For a file that is there.
   *
   * @param extents how many blocks lie in it
   */
  static StoredSamples in(Path file, int extents) throws NativeException {
    return new StoredSamples(DiskFile.open(file), extents);
  }

  @Override
  public long of(long block, long fileOffset) {
    if ((block - 1) % distance >= RUN) {
      return block * 0x9E3779B97F4A7C15L;
    }
    int bytes = SsdFacts.SHAPE.blockBytes();
    extent.fill((byte) 0);
    pattern.select(block);
    pattern.write(0, extent.asSlice(0, bytes));
    long sum = Checksum.sum(extent, 0, bytes, 0);
    extent.set(SUM, bytes, sum);
    int written = file.write(extent, fileOffset);
    if (written != SsdFacts.EXTENT_BYTES) {
      throw new Failure(
          "the SSD tier's file took %d of %d bytes".formatted(written, SsdFacts.EXTENT_BYTES),
          "look at its disk");
    }
    return Checksum.finish(sum, bytes);
  }

  /** Begins of samples of which no block was dropped. */
  List<Long> alive(SsdFacts facts) {
    List<Long> first = new ArrayList<>();
    long round = (facts.oldestBlock() - 1 + distance - 1) / distance;
    for (long block = round * distance + 1; block + RUN <= facts.nextBlock(); block += distance) {
      first.add(block);
    }
    return first;
  }

  /**
   * Asks a Manager for samples, which must all come from SSD and have their bytes.
   *
   * @throws Failure if one is missing or wrong
   */
  static void ask(String socket, List<Long> samples) {
    try (Engine engine = Engine.connect(socket, SsdFacts.SHAPE)) {
      TracePlayer player = new TracePlayer(engine, true);
      for (long first : samples) {
        long[] blocks = new long[RUN];
        for (int i = 0; i < RUN; i++) {
          blocks[i] = first + i;
        }
        int hits = player.play(new TraceRequest(0, 0, 0, blocks), "sample-" + first);
        if (hits != RUN) {
          throw new Failure(
              "%d of the %d blocks from %d on were found on SSD".formatted(hits, RUN, first),
              "report this: a start must not lose what the journal knows");
        }
      }
      if (player.totals().waits() != samples.size()) {
        throw new Failure(
            "%d of %d samples came from SSD".formatted(player.totals().waits(), samples.size()),
            "");
      }
    }
  }

  /** Writes the samples to the disk itself. */
  void sync() throws NativeException {
    file.sync();
  }

  @Override
  public void close() {
    file.close();
    arena.close();
  }
}
