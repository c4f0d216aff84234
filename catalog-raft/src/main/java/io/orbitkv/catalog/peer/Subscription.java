package io.orbitkv.catalog.peer;

import io.grpc.stub.ServerCallStreamObserver;
import io.orbitkv.catalog.inventory.FeedEvent;
import io.orbitkv.catalog.inventory.InventoryTable;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.inventory.RowBatch;
import io.orbitkv.catalog.peer.proto.InventoryChanged;
import io.orbitkv.catalog.peer.proto.InventoryFrom;
import io.orbitkv.catalog.peer.proto.InventoryGap;
import io.orbitkv.catalog.peer.proto.InventoryRows;
import io.orbitkv.catalog.peer.proto.InventoryRowsEnd;
import io.orbitkv.catalog.peer.proto.OwnerDropped;
import io.orbitkv.catalog.peer.proto.OwnerReplaced;
import io.orbitkv.catalog.peer.proto.PlacementChanged;
import io.orbitkv.catalog.peer.proto.PlacementGap;
import io.orbitkv.catalog.peer.proto.SubscribeRequest;
import io.orbitkv.catalog.peer.proto.SubscriptionEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One subscriber. A virtual thread of its own follows the feeds and writes as fast as the
 * subscriber reads; what the feeds forget meanwhile is told as a gap, after which the stream goes
 * on from the feed's end. Nothing is ever left out silently.
 */
final class Subscription {
  private static final int EVENTS_AT_ONE_TIME = 256;
  private static final long LOOK_MILLIS = 500;

  private final SubscribeRequest request;
  private final PeerHandlers handlers;
  private final ServerCallStreamObserver<SubscriptionEvent> down;
  private final Semaphore wakes = new Semaphore(0);
  private final Runnable wake = this::wake;
  private final List<Follow> follows = new ArrayList<>();
  private long placementsAfter;

  /** A catalog shard that is followed, and the number behind which it goes on. */
  private static final class Follow {
    final InventoryTable table;
    long after;
    boolean rowsFirst;

    Follow(InventoryTable table) {
      this.table = table;
    }
  }

  Subscription(
      SubscribeRequest request,
      PeerHandlers handlers,
      ServerCallStreamObserver<SubscriptionEvent> down) {
    this.request = request;
    this.handlers = handlers;
    this.down = down;
    this.placementsAfter = request.getPlacementsAfter();
    for (InventoryFrom from : request.getInventoriesList()) {
      int shard = Protos.catalogShard(from.getCatalogShard());
      InventoryTable table =
          handlers
              .receiver()
              .table(shard)
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "catalog shard "
                              + shard
                              + " is not served here; ask one of its members"));
      Follow follow = new Follow(table);
      boolean ours =
          from.getReplicaRuntime().isEmpty()
              || Protos.uuid(from.getReplicaRuntime()).equals(handlers.runtime());
      follow.after = ours ? from.getAfter() : Long.MAX_VALUE;
      follow.rowsFirst = from.getRowsFirst();
      follows.add(follow);
    }
  }

  /** Begins; {@code ended} is called once it is over. */
  void start(Runnable ended) {
    down.setOnReadyHandler(wake);
    down.setOnCancelHandler(wake);
    Thread.ofVirtual()
        .name("orbitkv-subscription")
        .start(
            () -> {
              try {
                follow();
              } finally {
                ended.run();
              }
            });
  }

  private void wake() {
    if (wakes.availablePermits() == 0) {
      wakes.release();
    }
  }

  private void follow() {
    follows.forEach(follow -> follow.table.feed().onChange(wake));
    handlers.placements().onChange(wake);
    try {
      for (Follow follow : follows) {
        if (follow.rowsFirst) {
          sendRows(follow);
        }
      }
      while (!down.isCancelled()) {
        boolean sent = request.hasPlacementsAfter() && sendPlacements();
        for (Follow follow : follows) {
          sent |= sendChanges(follow);
        }
        if (!sent) {
          sleep();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      follows.forEach(follow -> follow.table.feed().removeListener(wake));
      handlers.placements().removeListener(wake);
    }
  }

  private void sleep() throws InterruptedException {
    if (wakes.tryAcquire(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
      wakes.drainPermits();
    }
  }

  private void send(SubscriptionEvent.Builder event) throws InterruptedException {
    while (!down.isReady() && !down.isCancelled()) {
      sleep();
    }
    if (!down.isCancelled()) {
      down.onNext(event.build());
    }
  }

  private boolean sendPlacements() throws InterruptedException {
    Optional<List<PlacementFeed.Change>> changes =
        handlers.placements().after(placementsAfter, EVENTS_AT_ONE_TIME);
    if (changes.isEmpty()) {
      long last = handlers.placements().last();
      PlacementGap.Builder gap = PlacementGap.newBuilder().setAfter(placementsAfter).setLast(last);
      send(SubscriptionEvent.newBuilder().setPlacementGap(gap));
      placementsAfter = last;
      return true;
    }
    for (PlacementFeed.Change change : changes.get()) {
      placementsAfter = change.position();
      send(
          SubscriptionEvent.newBuilder()
              .setPlacement(
                  PlacementChanged.newBuilder()
                      .setPosition(change.position())
                      .setPlacement(Protos.placement(change.placement()))));
    }
    return !changes.get().isEmpty();
  }

  /** All rows that are seen now, and the number of the feed from before they were read. */
  private void sendRows(Follow follow) throws InterruptedException {
    long number = follow.table.feed().last();
    Map<OwnerRun, RowBatch.Builder> byOwner = new HashMap<>();
    List<SubscriptionEvent.Builder> full = new ArrayList<>();
    follow.table.forEach(
        (owner, key, tier, generation, kib) -> {
          RowBatch.Builder rows = byOwner.computeIfAbsent(owner, _ -> new RowBatch.Builder(64));
          rows.add(key.high(), key.low(), generation, kib, 0, tier.code(), false);
          if (rows.size() == RowBatch.MAX_ROWS) {
            full.add(rows(follow, owner, byOwner.remove(owner)));
          }
        });
    byOwner.forEach((owner, rows) -> full.add(rows(follow, owner, rows)));
    for (SubscriptionEvent.Builder event : full) {
      send(event);
    }
    send(
        SubscriptionEvent.newBuilder()
            .setRowsEnd(
                InventoryRowsEnd.newBuilder()
                    .setCatalogShard(follow.table.catalogShard())
                    .setNumber(number)
                    .setReplicaRuntime(Protos.bytes(handlers.runtime()))));
    follow.after = number;
  }

  private static SubscriptionEvent.Builder rows(
      Follow follow, OwnerRun owner, RowBatch.@Nullable Builder rows) {
    return SubscriptionEvent.newBuilder()
        .setRows(
            InventoryRows.newBuilder()
                .setCatalogShard(follow.table.catalogShard())
                .setOwner(Protos.run(owner))
                .setRows(Protos.rows(rows == null ? RowBatch.EMPTY : rows.build())));
  }

  private boolean sendChanges(Follow follow) throws InterruptedException {
    Optional<List<FeedEvent>> events = follow.table.feed().after(follow.after, EVENTS_AT_ONE_TIME);
    if (events.isEmpty()) {
      long last = follow.table.feed().last();
      InventoryGap.Builder gap =
          InventoryGap.newBuilder()
              .setCatalogShard(follow.table.catalogShard())
              .setAfter(follow.after == Long.MAX_VALUE ? 0 : follow.after)
              .setLast(last)
              .setReplicaRuntime(Protos.bytes(handlers.runtime()));
      send(SubscriptionEvent.newBuilder().setInventoryGap(gap));
      follow.after = last;
      return true;
    }
    for (FeedEvent event : events.get()) {
      follow.after = event.number();
      send(event(follow.table.catalogShard(), event));
    }
    return !events.get().isEmpty();
  }

  private static SubscriptionEvent.Builder event(int shard, FeedEvent event) {
    SubscriptionEvent.Builder builder = SubscriptionEvent.newBuilder();
    return switch (event) {
      case FeedEvent.Changed(long number, OwnerRun owner, long after, long through, var rows) ->
          builder.setChanged(
              InventoryChanged.newBuilder()
                  .setCatalogShard(shard)
                  .setNumber(number)
                  .setOwner(Protos.run(owner))
                  .setAfter(after)
                  .setThrough(through)
                  .setRows(Protos.rows(rows)));
      case FeedEvent.Replaced(long number, OwnerRun owner, long position) ->
          builder.setReplaced(
              OwnerReplaced.newBuilder()
                  .setCatalogShard(shard)
                  .setNumber(number)
                  .setOwner(Protos.run(owner))
                  .setPosition(position));
      case FeedEvent.Dropped(long number, OwnerRun owner) ->
          builder.setDropped(
              OwnerDropped.newBuilder()
                  .setCatalogShard(shard)
                  .setNumber(number)
                  .setOwner(Protos.run(owner)));
    };
  }
}
