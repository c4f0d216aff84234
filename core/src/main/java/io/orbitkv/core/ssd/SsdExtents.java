package io.orbitkv.core.ssd;

import io.orbitkv.core.pool.Extent;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.core.pool.PlacesInOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The books of the SSD tier: which bytes of which file are in use. Files take turns, so that
 * several drives share the load; one that is full is passed over.
 *
 * <p>Every extent is cut by a segregated fit at 4 KiB and stays where it is until it is dropped:
 * nothing is ever moved, so what the Manager writes is what was admitted, padded to 4 KiB. A log of
 * segments would write in longer strides and pay for it by copying live blocks out of half-dead
 * segments; see {@code docs/decisions}. Owned by the manager loop; not thread-safe.
 */
public class SsdExtents {
  /** Offsets and lengths are multiples of this. */
  public static final int ALIGNMENT_BYTES = ExtentAllocator.DIRECT_GRANULE_BYTES;

  /** Where a slice lies on SSD. */
  public record Place(int file, long offset, int bytes, long generation) {}

  /** Slices that an earlier life of the daemon wrote. */
  public static final class Kept {
    private final PlacesInOrder[] places;
    private final int headerBytes;

    private Kept(int[] counts, int headerBytes) {
      this.headerBytes = headerBytes;
      this.places = new PlacesInOrder[counts.length];
      for (int file = 0; file < counts.length; file++) {
        places[file] = new PlacesInOrder(counts[file], ALIGNMENT_BYTES);
      }
    }

    /** Adds one. */
    public void add(int file, long offset, int bytes) {
      places[file].add(offset - headerBytes, bytes);
    }

    /** Receives a slice. */
    @FunctionalInterface
    public interface Visitor {
      void visit(int file, long offset, int bytes);
    }

    /** Visits all. */
    public void forEach(Visitor visitor) {
      for (int file = 0; file < places.length; file++) {
        int in = file;
        places[file].forEach((offset, bytes) -> visitor.visit(in, offset + headerBytes, bytes));
      }
    }
  }

  private final ExtentAllocator[] files;
  private final int headerBytes;
  private long nextGeneration;
  private int turn;

  /**
   * Books of files of which nothing is in use but their headers.
   *
   * @param fileBytes bytes of each file, a multiple of 4,096 and more than the header
   * @param headerBytes bytes at the start of each file that hold no extent
   * @param firstGeneration above every SSD generation that the journal has seen
   */
  public SsdExtents(long[] fileBytes, int headerBytes, long firstGeneration) {
    this.headerBytes = headerBytes;
    this.nextGeneration = firstGeneration;
    this.files = new ExtentAllocator[fileBytes.length];
    for (int file = 0; file < files.length; file++) {
      files[file] = new ExtentAllocator(fileBytes[file] - headerBytes, ALIGNMENT_BYTES, 1);
    }
  }

  /**
   * Takes what the journal says lies in the files into the books; before the first {@link
   * #allocate}.
   *
   * @throws IllegalArgumentException if two overlap or one is not in its file
   */
  public void occupy(Kept kept) {
    for (int file = 0; file < files.length; file++) {
      kept.places[file].occupy(files[file]);
    }
  }

  /**
   * For what lies in the files.
   *
   * @param counts how many slices lie in each
   */
  public Kept kept(int[] counts) {
    return new Kept(counts, headerBytes);
  }

  /**
   * An extent in whichever file has room, null when none has.
   *
   * @param bytes a multiple of 4,096
   */
  public @Nullable Place allocate(int bytes) {
    for (int tried = 0; tried < files.length; tried++) {
      int file = turn;
      turn = (turn + 1) % files.length;
      Extent extent = files[file].allocate(bytes);
      if (extent != null) {
        return new Place(file, extent.offset() + headerBytes, extent.bytes(), nextGeneration++);
      }
    }
    return null;
  }

  /**
   * Gives an extent back.
   *
   * @throws IllegalStateException if it is not in use: the books are wrong
   */
  public void free(int file, long offset, int bytes) {
    files[file].free(offset - headerBytes, bytes);
  }

  public int files() {
    return files.length;
  }

  /** Bytes that extents can have, over all files. */
  public long capacityBytes() {
    return Arrays.stream(files).mapToLong(ExtentAllocator::poolBytes).sum();
  }

  public long freeBytes() {
    long bytes = 0;
    for (ExtentAllocator file : files) {
      bytes += file.freeBytes();
    }
    return bytes;
  }

  public long usedBytes() {
    return Arrays.stream(files).mapToLong(ExtentAllocator::usedBytes).sum();
  }

  public int usedExtents() {
    return Arrays.stream(files).mapToInt(ExtentAllocator::usedExtents).sum();
  }

  /** Walks the books of every file and throws if something in them is wrong. */
  public void check() {
    for (ExtentAllocator file : files) {
      file.check();
    }
  }
}
