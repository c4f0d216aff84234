package io.orbitkv.manager.workload;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A model of the layout that was not chosen: blocks are appended to segments, and a segment is used
 * again once it is cleaned. Of the segments that are full the one with the least live bytes is
 * cleaned; what lives in it is written again, or dropped.
 */
final class SegmentLog implements SsdLayout {
  /** What becomes of live blocks in a segment that is wanted back. */
  enum Cleaning {
    /** They are written again: nothing is lost, and the disk writes more. */
    COPY,
    /** The oldest segment goes with all that is in it, as in a ring. */
    DROP_OLDEST
  }

  /** Segments that are kept free for what is written while one is cleaned. */
  private static final int SPARE = 2;

  private record Place(Segment segment, int bytes) {}

  private static final class Segment {
    final List<Long> blocks = new ArrayList<>();
    int used;
    long live;
  }

  private final int segmentBytes;
  private final long liveBytesMost;
  private final Cleaning cleaning;
  private final Map<Long, Place> places = new HashMap<>();
  private final LinkedHashMap<Long, Long> order = new LinkedHashMap<>(16, 0.75f, true);
  private final ArrayDeque<Segment> full = new ArrayDeque<>();
  private int free;
  private Segment open = new Segment();
  private long liveBytes;
  private long writtenBytes;
  private long peakLiveBytes;

  /**
   * @param fill the share of the capacity that may live; the rest is what cleaning works with
   */
  SegmentLog(long capacityBytes, int segmentBytes, double fill, Cleaning cleaning) {
    this.segmentBytes = segmentBytes;
    this.free = (int) (capacityBytes / segmentBytes) - 1;
    this.liveBytesMost = (long) ((free + 1L) * segmentBytes * fill);
    this.cleaning = cleaning;
  }

  @Override
  public boolean holds(long block) {
    return places.containsKey(block);
  }

  @Override
  public void touch(long block) {
    order.get(block);
  }

  @Override
  public void write(long block, int bytes) {
    while (cleaning == Cleaning.COPY && liveBytes + bytes > liveBytesMost) {
      drop(order.firstEntry().getKey());
    }
    append(block, bytes);
    order.put(block, 0L);
  }

  private void append(long block, int bytes) {
    if (open.used + bytes > segmentBytes) {
      full.addLast(open);
      open = new Segment();
      free--;
      while (free < SPARE) {
        clean();
      }
    }
    places.put(block, new Place(open, bytes));
    open.blocks.add(block);
    open.used += bytes;
    open.live += bytes;
    liveBytes += bytes;
    writtenBytes += bytes;
    peakLiveBytes = Math.max(peakLiveBytes, liveBytes);
  }

  private void clean() {
    Segment victim = full.getFirst();
    if (cleaning == Cleaning.COPY) {
      for (Segment segment : full) {
        victim = segment.live < victim.live ? segment : victim;
      }
    }
    full.remove(victim);
    free++;
    for (long block : victim.blocks) {
      Place place = places.get(block);
      if (place == null || place.segment != victim) {
        continue;
      }
      if (cleaning == Cleaning.DROP_OLDEST) {
        drop(block);
      } else {
        forget(block, place);
        append(block, place.bytes);
      }
    }
  }

  private void drop(long block) {
    Place place = places.get(block);
    if (place != null) {
      forget(block, place);
    }
    order.remove(block);
  }

  private void forget(long block, Place place) {
    places.remove(block);
    place.segment.live -= place.bytes;
    liveBytes -= place.bytes;
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
