package io.orbitkv.manager.replay;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.SsdSkip;
import io.orbitkv.state.HostEvent.SsdSkipped;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Longs;
import io.orbitkv.state.Totals;
import io.orbitkv.state.Totals.SsdCounter;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/** What went to the SSD tier and came from it, by the journal. */
final class TierFigures {
  /** A line for a person. */
  record Figure(String name, String text) {}

  private final Map<SsdSkip, Long> skipped = new EnumMap<>(SsdSkip.class);

  /** Counts what the fold does not. */
  void see(HostEvent event) {
    if (event instanceof SsdSkipped skip) {
      skipped.merge(skip.reason(), (long) skip.blocks().size(), Long::sum);
    }
  }

  /** Whether there ever was a tier. */
  static boolean any(HostState state) {
    return state.totals().get(SsdCounter.OPENED) > 0;
  }

  List<Figure> of(HostState state) {
    Totals totals = state.totals();
    List<Figure> figures = new ArrayList<>();
    figures.add(
        new Figure(
            "holds",
            "%s of %s in %s, %s nowhere else"
                .formatted(
                    Words.bytes(state.ssdBytes()),
                    Words.bytes(capacityBytes(state)),
                    Words.count(state.ssdExtents(), "extent"),
                    Words.count(state.ssdOnlyBlocks(), "block"))));
    figures.add(
        new Figure(
            "written",
            "%s, %s; %s left memory for it"
                .formatted(
                    Words.count(totals.get(SsdCounter.WRITTEN_BLOCKS), "block"),
                    Words.bytes(totals.get(SsdCounter.WRITTEN_BYTES)),
                    Words.count(totals.get(SsdCounter.DEMOTED_BLOCKS)))));
    long loads = totals.get(SsdCounter.LOADS);
    figures.add(
        new Figure(
            "read back",
            "%s, %s in %s%s"
                .formatted(
                    Words.count(totals.get(SsdCounter.LOADED_BLOCKS), "block"),
                    Words.bytes(totals.get(SsdCounter.LOADED_BYTES)),
                    Words.count(loads, "read"),
                    loads == 0
                        ? ""
                        : " of "
                            + Words.duration(totals.get(SsdCounter.LOAD_MICROS) / loads)
                            + " on average")));
    add(figures, "copies dropped", HostEvent.SsdEvictionCause.values(), totals::ssdEvictedBlocks);
    add(figures, "not read back", HostEvent.LoadFailure.values(), totals::loadsFailed);
    add(figures, "never written", SsdSkip.values(), each -> skipped.getOrDefault(each, 0L));
    if (totals.get(SsdCounter.DEGRADED) > 0) {
      figures.add(
          new Figure(
              "troubles",
              "%s, over: %s"
                  .formatted(
                      Words.count(totals.get(SsdCounter.DEGRADED)),
                      Words.count(totals.get(SsdCounter.RECOVERED)))));
    }
    return figures;
  }

  private static <E extends Enum<E>> void add(
      List<Figure> figures, String name, E[] constants, ToLongFunction<E> count) {
    List<String> parts = new ArrayList<>();
    for (E constant : constants) {
      long value = count.applyAsLong(constant);
      if (value != 0) {
        parts.add(Words.count(value) + " " + Words.of(constant));
      }
    }
    if (!parts.isEmpty()) {
      figures.add(new Figure(name, String.join(", ", parts)));
    }
  }

  /** What the tier can hold. */
  static long capacityBytes(HostState state) {
    Longs files = state.tierFileBytes();
    long bytes = 0;
    for (int file = 0; file < files.size(); file++) {
      bytes += files.get(file);
    }
    return bytes;
  }

  /** The same as one JSON object. */
  ObjectNode json(HostState state) {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    node.put("capacityBytes", capacityBytes(state));
    node.put("extentBytes", state.ssdBytes());
    node.put("extents", state.ssdExtents());
    node.put("onlyBlocks", state.ssdOnlyBlocks());
    Totals totals = state.totals();
    for (SsdCounter counter : SsdCounter.values()) {
      node.put(Words.of(counter), totals.get(counter));
    }
    put(node, "evicted_blocks", HostEvent.SsdEvictionCause.values(), totals::ssdEvictedBlocks);
    put(node, "failed_blocks", HostEvent.LoadFailure.values(), totals::loadsFailed);
    put(node, "skipped_blocks", SsdSkip.values(), each -> skipped.getOrDefault(each, 0L));
    return node;
  }

  private static <E extends Enum<E>> void put(
      ObjectNode node, String name, E[] constants, ToLongFunction<E> count) {
    ObjectNode each = node.putObject(name);
    for (E constant : constants) {
      each.put(Words.of(constant), count.applyAsLong(constant));
    }
  }
}
