package io.orbitkv.catalog.inventory;

import io.orbitkv.catalog.inventory.InventoryFrame.Changes;
import io.orbitkv.catalog.inventory.InventoryFrame.SnapshotBegin;
import io.orbitkv.catalog.inventory.InventoryFrame.SnapshotEnd;
import io.orbitkv.catalog.inventory.InventoryFrame.SnapshotRows;
import io.orbitkv.catalog.inventory.OwnerView.Owner;
import io.orbitkv.state.catalog.NodeId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What a replica of one catalog shard knows of who has which block.
 *
 * <p>Each owner has at most one view that lookups see and one that is being made from a snapshot. A
 * view is what the owner had at exactly one position of its journal: frames move it from position
 * to position, a frame that it has already is passed over, and one that does not fit asks for a
 * restart. A whole staging view replaces the visible one by one store. What was replaced, or whose
 * owner began a new run or was fenced, is dead at once; {@link #sweep} takes its rows out by and
 * by.
 *
 * <p>Lookups take the lock of one small segment at a time; all else is ordered by the table's lock.
 */
public final class InventoryTable {
  /** The most views of all kinds: as many as a row can name. */
  static final int MAX_VIEWS = Short.MAX_VALUE;

  private final ReentrantLock lock = new ReentrantLock();
  private final RowStore store = new RowStore();
  private final Map<NodeId, Owner> owners = new TreeMap<>();

  /** By view number. Replaced when it grows, so that lookups read it without the lock. */
  private volatile @Nullable OwnerView[] views = new OwnerView[8];

  /** Views that died before the present round of the sweep began, and those that died since. */
  private final BitSet sweeping = new BitSet();

  private final BitSet dying = new BitSet();
  private final int catalogShard;
  private final InventoryFeed feed;
  private long deadRows;
  private long streams;

  /** An empty table. */
  public InventoryTable(int catalogShard) {
    this(catalogShard, new InventoryFeed(InventoryFeed.DEFAULT_CHANGES));
  }

  InventoryTable(int catalogShard, InventoryFeed feed) {
    this.catalogShard = catalogShard;
    this.feed = feed;
  }

  /** The catalog shard it belongs to. */
  public int catalogShard() {
    return catalogShard;
  }

  /** The changes that lookups came to see, for subscribers. */
  public InventoryFeed feed() {
    return feed;
  }

  /** What became of an attempt to open a stream. */
  sealed interface Opening {
    /** The stream's number, and where it goes on. */
    record Opened(long stream, OptionalLong resumeAfter) implements Opening {}

    /** The run is over or fenced. */
    record Refused(String reason, String remedy) implements Opening {}
  }

  /**
   * Opens a stream of an owner; one that is open already may not go on. A run with a higher epoch
   * kills the views of the one before.
   */
  Opening open(OwnerRun run) {
    lock.lock();
    try {
      Owner owner = owners.computeIfAbsent(run.node(), _ -> new Owner(run));
      String reason = refusal(owner, run);
      if (reason != null) {
        return new Opening.Refused(
            reason, "restart this host's daemon: a start takes a new runtime and a higher epoch");
      }
      if (run.epoch() > owner.run.epoch()) {
        drop(owner);
        owner.run = run;
      }
      OwnerView staging = owner.staging;
      if (staging != null) {
        owner.staging = null;
        kill(staging);
      }
      owner.stream = ++streams;
      return new Opening.Opened(owner.stream, position(owner.visible));
    } finally {
      lock.unlock();
    }
  }

  private static @Nullable String refusal(Owner owner, OwnerRun run) {
    if (run.epoch() < owner.fencedBelow) {
      return "epoch %d of %s is fenced below %d"
          .formatted(run.epoch(), run.node(), owner.fencedBelow);
    }
    if (run.epoch() < owner.run.epoch()) {
      return "epoch %d of %s is over: epoch %d has begun"
          .formatted(run.epoch(), run.node(), owner.run.epoch());
    }
    if (run.epoch() == owner.run.epoch() && !run.runtime().equals(owner.run.runtime())) {
      return "epoch %d of %s belongs to runtime %s"
          .formatted(run.epoch(), run.node(), owner.run.runtime());
    }
    return null;
  }

  /**
   * Applies a frame of a stream.
   *
   * @return nothing when it was taken or passed over; else why the stream has to begin again
   */
  Optional<String> apply(NodeId node, long stream, InventoryFrame frame) {
    lock.lock();
    try {
      Owner owner = owners.get(node);
      if (owner == null || owner.stream != stream) {
        return Optional.of("another stream of " + node + " was opened since");
      }
      return Optional.ofNullable(
          switch (frame) {
            case SnapshotBegin begin -> begin(owner, begin);
            case SnapshotRows rows -> rows(owner, rows);
            case SnapshotEnd end -> end(owner, end);
            case Changes changes -> changes(owner, changes);
          });
    } finally {
      lock.unlock();
    }
  }

  private @Nullable String begin(Owner owner, SnapshotBegin begin) {
    OwnerView staging = owner.staging;
    OwnerView visible = owner.visible;
    if ((staging != null && staging.snapshot == begin.snapshot())
        || (visible != null && visible.snapshot == begin.snapshot())) {
      return null; // again
    }
    if (visible != null && begin.position() < visible.position) {
      return null; // an old one, late: its rows find no view and ask for a restart
    }
    if (staging != null) {
      owner.staging = null;
      kill(staging);
    }
    int id = freeView();
    if (id < 0) {
      return "all " + MAX_VIEWS + " views are in use";
    }
    OwnerView made = new OwnerView(id, owner, owner.run, begin.snapshot(), begin.position());
    place(made);
    owner.staging = made;
    return null;
  }

  private @Nullable String rows(Owner owner, SnapshotRows frame) {
    OwnerView staging = owner.staging;
    if (staging == null || staging.snapshot != frame.snapshot()) {
      OwnerView visible = owner.visible;
      return visible != null && visible.snapshot == frame.snapshot()
          ? null
          : "rows of a snapshot that was not begun";
    }
    if (frame.index() < staging.frames) {
      return null;
    }
    if (frame.index() > staging.frames) {
      return "frame %d of the snapshot is missing".formatted(staging.frames);
    }
    RowBatch rows = frame.rows();
    for (int i = 0; i < rows.size(); i++) {
      if (store.put(
          rows.high(i),
          rows.low(i),
          staging.id,
          rows.tier(i),
          rows.generation(i),
          rows.lengthKib(i))) {
        staging.rows++;
      }
    }
    staging.frames++;
    staging.snapshotRows += rows.size();
    return null;
  }

  private @Nullable String end(Owner owner, SnapshotEnd frame) {
    OwnerView staging = owner.staging;
    OwnerView before = owner.visible;
    if (staging == null || staging.snapshot != frame.snapshot()) {
      return before != null && before.snapshot == frame.snapshot()
          ? null
          : "end of a snapshot that was not begun";
    }
    if (staging.frames != frame.frames() || staging.snapshotRows != frame.rows()) {
      return "the snapshot has %d frames and %d rows, %d and %d came"
          .formatted(frame.frames(), frame.rows(), staging.frames, staging.snapshotRows);
    }
    owner.visible = staging;
    owner.staging = null;
    if (before != null) {
      kill(before);
    }
    feed.replaced(staging.run, staging.position);
    return null;
  }

  private @Nullable String changes(Owner owner, Changes frame) {
    OwnerView view = owner.visible;
    if (view == null) {
      return "changes before a whole snapshot";
    }
    if (frame.through() <= view.position) {
      return null;
    }
    if (frame.after() > view.position) {
      return "changes after %d, but the view is at %d".formatted(frame.after(), view.position);
    }
    RowBatch rows = frame.rows();
    for (int i = 0; i < rows.size(); i++) {
      if (frame.after() + rows.offset(i) > view.position) {
        change(view, rows, i);
      }
    }
    view.position = frame.through();
    feed.changed(view.run, frame.after(), frame.through(), rows);
    return null;
  }

  private void change(OwnerView view, RowBatch rows, int i) {
    long high = rows.high(i);
    long low = rows.low(i);
    if (rows.isRemoval(i)) {
      view.rows -= store.remove(high, low, view.id, rows.tier(i), rows.generation(i)) ? 1 : 0;
    } else if (store.put(high, low, view.id, rows.tier(i), rows.generation(i), rows.lengthKib(i))) {
      view.rows++;
    }
  }

  /**
   * Up to {@code perTier} candidates of each tier, in an order that says nothing. It takes the lock
   * of one segment and waits for nothing else.
   */
  public List<Candidate> find(Fingerprint key, int perTier) {
    List<Candidate> found = new ArrayList<>(2);
    int[] left = new int[Tier.values().length];
    Arrays.fill(left, perTier);
    @Nullable OwnerView[] known = views;
    store.find(
        key.high(),
        key.low(),
        (view, tier, generation, kib) -> {
          // A view that was placed after this array was read is not visible to this lookup.
          OwnerView of = view < known.length ? known[view] : null;
          if (of != null && of.isVisible() && left[tier]-- > 0) {
            found.add(new Candidate(of.run, Tier.ofCode(tier), generation, (long) kib << 10));
          }
        });
    return found;
  }

  /**
   * Refuses an owner's streams below an epoch from now on and kills what they brought, in constant
   * time; {@link #sweep} gives the memory back.
   */
  public void fence(NodeId node, long belowEpoch) {
    lock.lock();
    try {
      Owner owner = owners.get(node);
      if (owner == null) {
        owner = new Owner(new OwnerRun(node, new UUID(0, 0), Math.max(1, belowEpoch - 1)));
        owners.put(node, owner);
        owner.fencedBelow = belowEpoch;
        return;
      }
      owner.fencedBelow = Math.max(owner.fencedBelow, belowEpoch);
      if (owner.run.epoch() < belowEpoch) {
        drop(owner);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Forgets what an owner sent, in constant time; it may come again with the run that it has. */
  public void drop(NodeId node) {
    lock.lock();
    try {
      Owner owner = owners.get(node);
      if (owner != null) {
        drop(owner);
      }
    } finally {
      lock.unlock();
    }
  }

  private void drop(Owner owner) {
    owner.stream = ++streams;
    OwnerView visible = owner.visible;
    OwnerView staging = owner.staging;
    owner.visible = null;
    owner.staging = null;
    if (visible != null) {
      kill(visible);
      feed.dropped(visible.run);
    }
    if (staging != null) {
      kill(staging);
    }
  }

  /**
   * Takes some rows of dead views out. The lock of the table is not held meanwhile, that of a
   * segment for {@code maxRows} rows at most. One thread calls it.
   *
   * @return whether there is more to do
   */
  public boolean sweep(int maxRows) {
    lock.lock();
    try {
      if (sweeping.isEmpty()) {
        if (dying.isEmpty()) {
          return false;
        }
        sweeping.or(dying);
        dying.clear();
        store.restartSweep();
      }
    } finally {
      lock.unlock();
    }
    if (store.sweep(maxRows, sweeping::get)) {
      return true;
    }
    lock.lock();
    try {
      @Nullable OwnerView[] changed = views.clone();
      for (int id = sweeping.nextSetBit(0); id >= 0; id = sweeping.nextSetBit(id + 1)) {
        OwnerView gone = changed[id];
        deadRows -= gone == null ? 0 : gone.rows;
        changed[id] = null;
      }
      views = changed;
      sweeping.clear();
      return !dying.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** How far each owner's stream is, by node. */
  public List<OwnerProgress> progress() {
    lock.lock();
    try {
      List<OwnerProgress> all = new ArrayList<>();
      for (Owner owner : owners.values()) {
        if (owner.stream == 0) {
          continue; // fenced before it came
        }
        OwnerView visible = owner.visible;
        OwnerView staging = owner.staging;
        all.add(
            new OwnerProgress(
                owner.run,
                position(visible),
                visible == null ? 0 : visible.rows,
                staging == null ? 0 : staging.rows));
      }
      return all;
    } finally {
      lock.unlock();
    }
  }

  /** Whether lookups see a view of every one of these owners. */
  public boolean isWhole(Set<NodeId> expected) {
    lock.lock();
    try {
      for (NodeId node : expected) {
        Owner owner = owners.get(node);
        if (owner == null || owner.visible == null) {
          return false;
        }
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** The position of the view that lookups see of this run. */
  OptionalLong position(OwnerRun run) {
    lock.lock();
    try {
      Owner owner = owners.get(run.node());
      return owner == null || !owner.run.equals(run)
          ? OptionalLong.empty()
          : position(owner.visible);
    } finally {
      lock.unlock();
    }
  }

  /** Figures. */
  public TableStats stats() {
    lock.lock();
    try {
      long visible = 0;
      long staging = 0;
      for (Owner owner : owners.values()) {
        OwnerView seen = owner.visible;
        OwnerView made = owner.staging;
        visible += seen == null ? 0 : seen.rows;
        staging += made == null ? 0 : made.rows;
      }
      return new TableStats(visible, staging, deadRows, store.bytes());
    } finally {
      lock.unlock();
    }
  }

  /** Shows each row that lookups see, and may miss or repeat those that change meanwhile. */
  public void forEach(RowConsumer consumer) {
    @Nullable OwnerView[] known = views;
    store.forEach(
        (high, low, view, tier, generation, kib) -> {
          OwnerView of = view < known.length ? known[view] : null;
          if (of != null && of.isVisible()) {
            consumer.row(of.run, new Fingerprint(high, low), Tier.ofCode(tier), generation, kib);
          }
        });
  }

  /** What {@link #forEach} calls; it must be short. */
  @FunctionalInterface
  public interface RowConsumer {
    /** One row. */
    void row(OwnerRun owner, Fingerprint key, Tier tier, long generation, int lengthKib);
  }

  private static OptionalLong position(@Nullable OwnerView view) {
    return view == null ? OptionalLong.empty() : OptionalLong.of(view.position);
  }

  private void kill(OwnerView view) {
    dying.set(view.id);
    deadRows += view.rows;
  }

  private int freeView() {
    @Nullable OwnerView[] now = views;
    for (int i = 0; i < now.length; i++) {
      if (now[i] == null) {
        return i;
      }
    }
    return now.length < MAX_VIEWS ? now.length : -1;
  }

  private void place(OwnerView view) {
    @Nullable OwnerView[] now = views;
    int size = view.id < now.length ? now.length : Math.min(MAX_VIEWS, now.length * 2);
    @Nullable OwnerView[] changed = Arrays.copyOf(now, size);
    changed[view.id] = view;
    views = changed;
  }
}
