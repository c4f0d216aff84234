package io.orbitkv.manager.replay;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostState;
import io.orbitkv.state.OpenGrant;
import io.orbitkv.state.OpenLease;
import io.orbitkv.state.OpenPublish;
import io.orbitkv.state.OpenRemoteRead;
import io.orbitkv.state.OpenRestore;
import io.orbitkv.state.OpenSession;
import io.orbitkv.state.OpenTicket;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * {@code --leaks}: everything that is open, with the fact that opened it and its age, and the
 * extents that only an open thing keeps. What should have ended by now is marked as overdue.
 */
public final class Leaks {
  /** A lease that is this much past its end is overdue: the loop ends leases within moments. */
  private static final long SLACK_MICROS = 1_000_000;

  private static final int MAX_EXTENT_BLOCKS = 100;

  /** One open thing. */
  private record Open(
      String kind, long id, String what, long position, long atMicros, @Nullable String overdue) {}

  private final Replay replay;
  private final List<Open> open = new ArrayList<>();
  private final List<String> kept = new ArrayList<>();
  private long keptBytes;
  private long keptBlocks;

  private Leaks(Replay replay) {
    this.replay = replay;
  }

  /**
   * Lists what is open at a moment.
   *
   * @param at null for the end
   */
  public static Leaks find(JournalDir dir, @Nullable Moment at, Progress progress)
      throws IOException {
    Watcher watcher =
        new Watcher(progress) {
          @Override
          void see(Fact fact, HostState before) {}
        };
    ReplayOptions options =
        at == null ? ReplayOptions.QUICK : JournalDir.until(ReplayOptions.QUICK, at);
    Leaks leaks = new Leaks(dir.fold(options, watcher));
    leaks.collect(watcher.names);
    return leaks;
  }

  private void collect(Names names) {
    HostState state = replay.state();
    for (OpenSession each : state.sessions()) {
      open.add(
          new Open(
              "session",
              each.id(),
              "%s, shard %d, %s, pid %d"
                  .formatted(
                      each.instance().name(), each.shard(), Words.of(each.role()), each.pid()),
              each.position(),
              each.atMicros(),
              each.supersededBy() == 0
                  ? null
                  : "superseded by session " + each.supersededBy() + ", still draining"));
    }
    for (OpenLease each : state.leases()) {
      long past = state.atMicros() - each.expiresAtMicros();
      open.add(
          new Open(
              "lease",
              each.id(),
              "%s, request %s: %s"
                  .formatted(names.who(each.sessionId()), each.request(), heldBlocks(each.held())),
              each.position(),
              each.atMicros(),
              past > SLACK_MICROS ? Words.duration(past) + " past its end" : null));
    }
    for (OpenTicket each : state.tickets()) {
      open.add(
          new Open(
              "ticket",
              each.id(),
              "%s, request %s: waits for %s"
                  .formatted(
                      names.who(each.sessionId()), each.request(), FactText.blocks(each.awaited())),
              each.position(),
              each.atMicros(),
              null));
    }
    for (OpenPublish each : state.publishes()) {
      open.add(
          new Open(
              "publish",
              each.id(),
              "%s, request %s: shard %d of %s"
                  .formatted(
                      names.who(each.sessionId()),
                      each.request(),
                      each.shard(),
                      FactText.blocks(each.blocks())),
              each.position(),
              each.atMicros(),
              null));
    }
    for (OpenRestore each : state.restores()) {
      open.add(
          new Open(
              "restore",
              each.id(),
              "%s, lease %d%s: %s, %s"
                  .formatted(
                      names.who(each.sessionId()),
                      each.leaseId(),
                      state.lease(each.leaseId()) == null ? " (ended)" : "",
                      Words.count(each.blocks(), "block"),
                      Words.bytes(each.bytes())),
              each.position(),
              each.atMicros(),
              null));
    }
    for (OpenGrant each : state.grants()) {
      long past = state.atMicros() - each.expiresAtMicros();
      open.add(
          new Open(
              "grant",
              each.id(),
              "%s may read %s, %s"
                  .formatted(
                      each.peer().node(),
                      FactText.blocks(each.blocks()),
                      Words.bytes(each.bytes())),
              each.position(),
              each.atMicros(),
              past > SLACK_MICROS
                  ? Words.duration(past) + " past its end, not proven to be drained"
                  : null));
    }
    for (OpenRemoteRead each : state.remoteReads()) {
      open.add(
          new Open(
              "remote read",
              each.id(),
              "of %s: %s, %s"
                  .formatted(
                      each.owner().node(),
                      FactText.blocks(each.blocks()),
                      Words.bytes(each.bytes())),
              each.position(),
              each.atMicros(),
              each.quarantined() ? "in quarantine: bytes may still come" : null));
    }
    open.sort(Comparator.comparingLong(Open::position));
    if (state.evictedBlocks() + state.reservedBlocks() > 0) {
      state.forEachBlock(slot -> keep(state, slot));
    }
  }

  private static String heldBlocks(List<GroupLease> held) {
    int blocks = held.stream().mapToInt(group -> group.blocks().size()).sum();
    return held.size() == 1
        ? FactText.blocks(held.getFirst().blocks())
        : Words.count(blocks, "block") + " of " + held.size() + " groups";
  }

  /** Notes extents that hold no readable block. */
  private void keep(HostState state, int slot) {
    if (state.sealed(slot)) {
      return;
    }
    long bytes = 0;
    for (int shard = 0; shard < state.slices(slot); shard++) {
      bytes += state.reserved(slot, shard) ? state.extentBytes(slot, shard) : 0;
    }
    keptBytes += bytes;
    if (keptBlocks++ < MAX_EXTENT_BLOCKS) {
      kept.add(
          "block %d %s: %s kept by %s; begun at %s"
              .formatted(
                  state.blockId(slot),
                  Words.of(state.blockState(slot)),
                  Words.bytes(bytes),
                  holders(state, state.blockId(slot)),
                  Words.count(state.reservedAtPosition(slot))));
    }
  }

  private static String holders(HostState state, long blockId) {
    List<String> holders = new ArrayList<>();
    state.leases().stream()
        .filter(lease -> holds(lease.held(), blockId))
        .forEach(lease -> holders.add("lease " + lease.id()));
    state.restores().stream()
        .filter(restore -> holds(restore.held(), blockId))
        .forEach(restore -> holders.add("restore " + restore.id()));
    state.publishes().stream()
        .filter(publish -> publish.blocks().contains(blockId))
        .forEach(publish -> holders.add("publish " + publish.id()));
    state.grants().stream()
        .filter(grant -> grant.blocks().contains(blockId))
        .forEach(grant -> holders.add("grant " + grant.id()));
    state.remoteReads().stream()
        .filter(read -> read.blocks().contains(blockId))
        .forEach(read -> holders.add("remote read " + read.id()));
    return holders.isEmpty()
        ? "nothing open: it waits for the other shards"
        : String.join(", ", holders);
  }

  private static boolean holds(List<GroupLease> held, long blockId) {
    return held.stream().anyMatch(group -> group.blocks().contains(blockId));
  }

  /** Whether something is open that should have ended. */
  public boolean anyOverdue() {
    return open.stream().anyMatch(each -> each.overdue != null);
  }

  /** Whether the fold reached the moment. */
  public boolean complete() {
    return replay.ending() instanceof Replay.Ending.Complete;
  }

  /** Writes it for a person. */
  public void print(PrintWriter out, Times times) {
    HostState state = replay.state();
    out.printf(
        "Open at position %s, %s (epoch %d %s)%n",
        Words.count(state.position()),
        times.text(state.atMicros()),
        state.epoch(),
        state.running() ? "not ended" : "ended in order");
    if (open.isEmpty()) {
      out.println("  nothing is open");
    }
    for (Open each : open) {
      out.println(
          String.format(
              Locale.ROOT,
              "  %-7s %6d  age %-8s  opened at %s, %s  %s%s",
              each.kind,
              each.id,
              Words.duration(state.atMicros() - each.atMicros),
              Words.count(each.position),
              times.text(each.atMicros),
              each.what,
              each.overdue == null ? "" : "  OVERDUE: " + each.overdue));
    }
    out.printf(
        "Extents: %s, %s; %s in %s that cannot be read%n",
        Words.count(state.extents(), "extent"),
        Words.bytes(state.extentBytes()),
        Words.bytes(keptBytes),
        Words.count(keptBlocks, "block"));
    kept.forEach(line -> out.println("  " + line));
    if (keptBlocks > kept.size()) {
      out.printf("  and %s more%n", Words.count(keptBlocks - kept.size()));
    }
    Notes.of(replay).forEach(note -> out.println("note: " + note));
    out.flush();
  }

  /** The same as JSON. */
  public ObjectNode json() {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    HostState state = replay.state();
    root.put("position", state.position());
    root.put("at", Times.iso(state.atMicros()));
    ArrayNode list = root.putArray("open");
    for (Open each : open) {
      ObjectNode node = list.addObject();
      node.put("kind", each.kind);
      node.put("id", each.id);
      node.put("what", each.what);
      node.put("openedAtPosition", each.position);
      node.put("openedAt", Times.iso(each.atMicros));
      node.put("ageMicros", state.atMicros() - each.atMicros);
      node.put("overdue", each.overdue);
    }
    root.put("extentBytes", state.extentBytes());
    root.put("unreadableExtentBytes", keptBytes);
    root.put("unreadableBlocks", keptBlocks);
    return root;
  }
}
