package io.orbitkv.catalog.inventory;

import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.identity.StateKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The inventory of this host in memory, made by whoever tails the journal: it tells each seal and
 * each removal with its position, in order, and then how far it has read. Senders see a position
 * only once {@link #advance} named it, so a fact with many blocks is never seen in halves.
 *
 * <p>One thread tells, any thread reads. Each catalog shard has its own lock, which a snapshot
 * holds while it copies.
 */
public final class OwnInventory implements InventorySource {
  /** Changes that are held for each catalog shard by default: 0.6 MiB when all are used. */
  public static final int DEFAULT_CHANGES = 16_384;

  private final NamespaceScope scope;
  private final Part[] parts = new Part[CatalogShards.COUNT];
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private volatile long position;

  /**
   * An empty inventory that knows nothing before a position.
   *
   * @param position where the telling begins: the facts told lie behind it
   * @param heldChanges changes held for each catalog shard, a power of two
   * @param scope what is told to others
   */
  public OwnInventory(long position, int heldChanges, NamespaceScope scope) {
    if (Integer.bitCount(heldChanges) != 1) {
      throw new IllegalArgumentException(heldChanges + " changes is no power of two");
    }
    this.scope = scope;
    this.position = position;
    for (int i = 0; i < parts.length; i++) {
      parts[i] = new Part(new ChangeRing(heldChanges, position), position);
    }
  }

  /**
   * A block is readable in a tier. Positions never fall; blocks outside the scope are passed over.
   */
  public void sealed(long at, StateKey key, Tier tier, long generation, long lengthBytes) {
    change(at, key, tier, generation, RowBatch.kib(lengthBytes), false);
  }

  /** A block is not readable in a tier any more. */
  public void removed(long at, StateKey key, Tier tier, long generation) {
    change(at, key, tier, generation, 0, true);
  }

  private void change(long at, StateKey key, Tier tier, long generation, int kib, boolean removal) {
    if (at <= position) {
      throw new IllegalArgumentException("position " + at + " behind " + position);
    }
    if (!scope.covers(key.namespace())) {
      return;
    }
    Fingerprint fingerprint = Fingerprint.of(key);
    Part part = parts[CatalogShards.of(key)];
    synchronized (part) {
      part.pending.add(new Told(at, fingerprint, tier.code(), generation, kib, removal));
    }
  }

  /** Everything through this position was told. */
  public void advance(long through) {
    if (through < position) {
      throw new IllegalArgumentException("position " + through + " behind " + position);
    }
    if (through == position) {
      return;
    }
    for (Part part : parts) {
      synchronized (part) {
        part.fold(through);
      }
    }
    position = through;
    listeners.forEach(Runnable::run);
  }

  @Override
  public long position() {
    return position;
  }

  @Override
  public Snapshot snapshot(int catalogShard) {
    Part part = parts[catalogShard];
    List<RowBatch> batches = new ArrayList<>();
    synchronized (part) {
      RowBatch.Builder[] current = {new RowBatch.Builder(RowBatch.MAX_ROWS)};
      part.rows.forEach(
          (high, low, view, tier, generation, kib) -> {
            if (current[0].size() == RowBatch.MAX_ROWS) {
              batches.add(current[0].build());
              current[0] = new RowBatch.Builder(RowBatch.MAX_ROWS);
            }
            current[0].add(high, low, generation, kib, 0, tier, false);
          });
      if (current[0].size() > 0) {
        batches.add(current[0].build());
      }
      return new Snapshot(part.through, part.rows.rows(), batches.iterator());
    }
  }

  @Override
  public Optional<InventoryFrame.Changes> changesAfter(int catalogShard, long after, int maxRows) {
    Part part = parts[catalogShard];
    synchronized (part) {
      return part.ring.after(after, part.through, maxRows);
    }
  }

  @Override
  public void onAdvance(Runnable wake) {
    listeners.add(wake);
  }

  /** Rows of a catalog shard. */
  public long rows(int catalogShard) {
    return parts[catalogShard].rows.rows();
  }

  /** Rows of all catalog shards. */
  public long rows() {
    long rows = 0;
    for (Part part : parts) {
      rows += part.rows.rows();
    }
    return rows;
  }

  /** Bytes of the arrays of all rows; the held changes come on top. */
  public long bytes() {
    long bytes = 0;
    for (Part part : parts) {
      bytes += part.rows.bytes();
    }
    return bytes;
  }

  /** A change that no sender sees yet. */
  private record Told(
      long at, Fingerprint key, int tier, long generation, int kib, boolean removal) {}

  private static final class Part {
    final RowStore rows = new RowStore();
    final ChangeRing ring;
    final List<Told> pending = new ArrayList<>();
    long through;

    Part(ChangeRing ring, long through) {
      this.ring = ring;
      this.through = through;
    }

    void fold(long newThrough) {
      for (Told told : pending) {
        long high = told.key.high();
        long low = told.key.low();
        ring.add(told.at, high, low, told.generation, told.kib, told.tier, told.removal);
        if (told.removal) {
          rows.remove(high, low, 0, told.tier, told.generation);
        } else {
          rows.put(high, low, 0, told.tier, told.generation, told.kib);
        }
      }
      pending.clear();
      through = newThrough;
    }
  }
}
