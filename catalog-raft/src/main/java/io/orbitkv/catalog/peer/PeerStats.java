package io.orbitkv.catalog.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts calls by direction, peer, call and outcome, for metrics. Bounded: see {@link #MAX_ROWS}.
 */
public final class PeerStats {
  /** Rows beyond this are counted under the peer "other": strangers may claim any name. */
  static final int MAX_ROWS = 4096;

  /** Which side counted. */
  public enum Side {
    /** A call of this host. */
    CLIENT,
    /** A call to this host. */
    SERVER
  }

  /**
   * One count.
   *
   * @param side who called
   * @param peer the other host, as it calls itself
   * @param call the name of the call
   * @param outcome OK, or the gRPC status, or why it was not made
   * @param count how many
   */
  public record Row(Side side, String peer, String call, String outcome, long count) {}

  private record Key(Side side, String peer, String call, String outcome)
      implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      int order = side.compareTo(other.side);
      order = order != 0 ? order : peer.compareTo(other.peer);
      order = order != 0 ? order : call.compareTo(other.call);
      return order != 0 ? order : outcome.compareTo(other.outcome);
    }
  }

  private final ConcurrentSkipListMap<Key, LongAdder> counts = new ConcurrentSkipListMap<>();

  /** Counts one call. */
  public void count(Side side, String peer, String call, String outcome) {
    Key key = new Key(side, peer, call, outcome);
    LongAdder adder = counts.get(key);
    if (adder == null) {
      Key bounded = counts.size() < MAX_ROWS ? key : new Key(side, "other", call, outcome);
      adder = counts.computeIfAbsent(bounded, _ -> new LongAdder());
    }
    adder.increment();
  }

  /** All counts, ordered. */
  public List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    counts.forEach(
        (key, count) -> rows.add(new Row(key.side, key.peer, key.call, key.outcome, count.sum())));
    return rows;
  }

  /** How many calls had an outcome, over all peers and calls of one side. */
  public long total(Side side, String outcome) {
    return rows().stream()
        .filter(row -> row.side == side && row.outcome.equals(outcome))
        .mapToLong(Row::count)
        .sum();
  }
}
