package io.orbitkv.manager.workload;

import io.orbitkv.core.ssd.SsdExtents;
import io.orbitkv.core.ssd.SsdExtents.Place;
import java.util.LinkedHashMap;

/** The layout that was chosen, by its own code: an extent for each block, which stays. */
final class ExtentLayout implements SsdLayout {
  private record Copy(Place place, int bytes) {}

  private final SsdExtents extents;
  private final LinkedHashMap<Long, Copy> copies = new LinkedHashMap<>(16, 0.75f, true);
  private long liveBytes;
  private long writtenBytes;
  private long peakLiveBytes;

  ExtentLayout(long capacityBytes) {
    extents = new SsdExtents(new long[] {capacityBytes + 4096}, 4096, 1);
  }

  @Override
  public boolean holds(long block) {
    return copies.containsKey(block);
  }

  @Override
  public void touch(long block) {
    copies.get(block);
  }

  @Override
  public void write(long block, int bytes) {
    int padded = (bytes + 4095) & -4096;
    Place place = extents.allocate(padded);
    while (place == null) {
      Copy gone = copies.pollFirstEntry().getValue();
      extents.free(gone.place.file(), gone.place.offset(), gone.place.bytes());
      liveBytes -= gone.bytes;
      place = extents.allocate(padded);
    }
    copies.put(block, new Copy(place, bytes));
    writtenBytes += padded;
    liveBytes += bytes;
    peakLiveBytes = Math.max(peakLiveBytes, liveBytes);
  }

  @Override
  public long writtenBytes() {
    return writtenBytes;
  }

  @Override
  public long peakLiveBytes() {
    return peakLiveBytes;
  }
}
