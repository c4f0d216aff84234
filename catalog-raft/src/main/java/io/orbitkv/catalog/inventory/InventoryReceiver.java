package io.orbitkv.catalog.inventory;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The replica's end of inventory streams: the tables of the catalog shards that this host serves,
 * and one {@link Stream} for each owner that sends to one of them.
 */
public final class InventoryReceiver {
  private final int windowFrames;
  private final Map<Integer, InventoryTable> tables = new ConcurrentSkipListMap<>();

  /**
   * A receiver without tables.
   *
   * @param windowFrames frames of one stream that may be under way, 1 to 1024
   */
  public InventoryReceiver(int windowFrames) {
    if (windowFrames < 1 || windowFrames > 1024) {
      throw new IllegalArgumentException("window of " + windowFrames + " frames");
    }
    this.windowFrames = windowFrames;
  }

  /** Begins to take streams for a catalog shard; the same table when it does already. */
  public InventoryTable serve(int catalogShard) {
    return tables.computeIfAbsent(catalogShard, InventoryTable::new);
  }

  /** Ends that: its rows are let go of and its streams are rejected. */
  public void retire(int catalogShard) {
    tables.remove(catalogShard);
  }

  /** The table of a catalog shard, if this host serves it. */
  public Optional<InventoryTable> table(int catalogShard) {
    return Optional.ofNullable(tables.get(catalogShard));
  }

  /** All tables by catalog shard. */
  public SortedMap<Integer, InventoryTable> tables() {
    return new TreeMap<>(tables);
  }

  /** An owner wants to send what it has of a catalog shard. */
  public Stream open(OwnerRun run, int catalogShard) {
    InventoryTable table = tables.get(catalogShard);
    if (table == null) {
      return new Stream(
          new InventoryReply.Rejected(
              "catalog shard " + catalogShard + " is not served here",
              "read the placement of the catalog shard again"));
    }
    return switch (table.open(run)) {
      case InventoryTable.Opening.Refused(String reason, String remedy) ->
          new Stream(new InventoryReply.Rejected(reason, remedy));
      case InventoryTable.Opening.Opened(long stream, OptionalLong after) ->
          new Stream(table, run, stream, new InventoryReply.Accepted(after, windowFrames));
    };
  }

  /** One stream. Its frames come one after another, from any thread. */
  public final class Stream {
    private final Optional<InventoryTable> table;
    private final Optional<OwnerRun> run;
    private final long number;
    private final InventoryReply first;
    private long consumed;

    private Stream(InventoryReply rejected) {
      this.table = Optional.empty();
      this.run = Optional.empty();
      this.number = 0;
      this.first = rejected;
    }

    private Stream(InventoryTable table, OwnerRun run, long number, InventoryReply accepted) {
      this.table = Optional.of(table);
      this.run = Optional.of(run);
      this.number = number;
      this.first = accepted;
    }

    /** What the opening is answered. */
    public InventoryReply first() {
      return first;
    }

    /**
     * Takes a frame.
     *
     * @return the answer; after {@link InventoryReply.Restart} or {@link InventoryReply.Rejected}
     *     the stream is over
     */
    public InventoryReply frame(InventoryFrame frame) {
      if (table.isEmpty() || run.isEmpty()) {
        return first;
      }
      InventoryTable into = table.get();
      if (tables.get(into.catalogShard()) != into) {
        return new InventoryReply.Rejected(
            "catalog shard " + into.catalogShard() + " is not served here any more",
            "read the placement of the catalog shard again");
      }
      Optional<String> problem = into.apply(run.get().node(), number, frame);
      if (problem.isPresent()) {
        return new InventoryReply.Restart(problem.get());
      }
      consumed++;
      return new InventoryReply.Progress(consumed, into.position(run.get()));
    }
  }
}
