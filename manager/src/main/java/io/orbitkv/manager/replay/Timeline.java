package io.orbitkv.manager.replay;

import io.orbitkv.state.HostEvent.EvictionCause;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What happened, by equal stretches of time. Their number is bounded: when there are too many, each
 * two become one, so a journal of any length is one pass and one page.
 */
final class Timeline {
  private static final int MAX_STRETCHES = 480;
  private static final long FIRST_WIDTH_MICROS = 1_000;

  /** One stretch of time. Counts are sums over it, the rest is what was last seen in it. */
  static final class Stretch {
    long facts;
    long queries;
    long askedBlocks;
    long hitBlocks;
    long publishedBytes;
    long restoredBytes;
    long refusals;
    long peakLeases;
    long peakRestores;
    long extentBytes = -1;
    long poolBytes = -1;
    long sealedBlocks;
    long reservedBlocks;
    final Map<EvictionCause, Long> evicted = new EnumMap<>(EvictionCause.class);
    final LatencyCounts restores = new LatencyCounts();
    final LatencyCounts publishes = new LatencyCounts();

    private void add(Stretch later) {
      facts += later.facts;
      queries += later.queries;
      askedBlocks += later.askedBlocks;
      hitBlocks += later.hitBlocks;
      publishedBytes += later.publishedBytes;
      restoredBytes += later.restoredBytes;
      refusals += later.refusals;
      peakLeases = Math.max(peakLeases, later.peakLeases);
      peakRestores = Math.max(peakRestores, later.peakRestores);
      if (later.extentBytes >= 0) {
        extentBytes = later.extentBytes;
        poolBytes = later.poolBytes;
        sealedBlocks = later.sealedBlocks;
        reservedBlocks = later.reservedBlocks;
      }
      later.evicted.forEach((cause, blocks) -> evicted.merge(cause, blocks, Long::sum));
      restores.add(later.restores);
      publishes.add(later.publishes);
    }
  }

  private final List<Stretch> stretches = new ArrayList<>();
  private long beginMicros = Long.MIN_VALUE;
  private long widthMicros = FIRST_WIDTH_MICROS;

  /** The stretch of a time; times never go back by more than what the first one was. */
  Stretch at(long atMicros) {
    if (beginMicros == Long.MIN_VALUE) {
      beginMicros = atMicros;
    }
    long since = Math.max(0, atMicros - beginMicros);
    while (since / widthMicros >= MAX_STRETCHES) {
      halve();
    }
    int index = (int) (since / widthMicros);
    while (stretches.size() <= index) {
      stretches.add(new Stretch());
    }
    return stretches.get(index);
  }

  private void halve() {
    List<Stretch> old = List.copyOf(stretches);
    stretches.clear();
    for (int i = 0; i < old.size(); i += 2) {
      Stretch both = old.get(i);
      if (i + 1 < old.size()) {
        both.add(old.get(i + 1));
      }
      stretches.add(both);
    }
    widthMicros *= 2;
  }

  List<Stretch> stretches() {
    return List.copyOf(stretches);
  }

  long beginMicros() {
    return beginMicros == Long.MIN_VALUE ? 0 : beginMicros;
  }

  long widthMicros() {
    return widthMicros;
  }

  double widthSeconds() {
    return widthMicros / 1e6;
  }
}
