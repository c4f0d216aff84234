package io.orbitkv.manager.replay;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.state.BlockState;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostState;
import io.orbitkv.state.LongRanges;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;

/** {@code --diff A B}: what the state at B has and has not, compared with the state at A. */
public final class Diff {
  private static final int MAX_NAMED = 20;

  /** What is kept of a state: enough to compare, and no more than 16 bytes for each block. */
  private static final class Snap {
    final long position;
    final long atMicros;
    final long digest;
    final long extentBytes;
    final long[] blockIds;
    final int[] places;
    final boolean[] sealed;
    final Map<Long, String> instances = new TreeMap<>();
    final Map<Long, String> sessions = new TreeMap<>();
    final Map<Long, String> leases = new TreeMap<>();
    final Map<String, Long> totals = new TreeMap<>();

    Snap(HostState state, Names names, Places index) {
      position = state.position();
      atMicros = state.atMicros();
      digest = state.digest();
      extentBytes = state.extentBytes();
      int live = Math.toIntExact(state.liveBlocks());
      blockIds = new long[live];
      places = new int[live];
      sealed = new boolean[live];
      int[] next = {0};
      state.forEachBlock(
          slot -> {
            if (state.blockState(slot) != BlockState.EVICTED) {
              int i = next[0]++;
              blockIds[i] = state.blockId(slot);
              places[i] = index.of(state.namespaceId(slot), state.groupId(slot), names);
              sealed[i] = state.sealed(slot);
            }
          });
      state.instances().forEach(each -> instances.put(each.id(), each.name()));
      state.sessions().forEach(each -> sessions.put(each.id(), names.who(each.id())));
      state
          .leases()
          .forEach(
              each ->
                  leases.put(
                      each.id(),
                      "%s for request %s, %s"
                          .formatted(
                              names.who(each.sessionId()),
                              each.request(),
                              Words.count(each.blocks(), "block"))));
      flatten(StateJson.of(state).get("totals"), "", totals);
    }
  }

  /** Small numbers for namespaces' groups, shared by both states. */
  private static final class Places {
    private final List<String> names = new ArrayList<>();
    private final Map<Long, Integer> numbers = new TreeMap<>();

    int of(int namespaceId, int groupId, Names known) {
      return numbers.computeIfAbsent(
          ((long) namespaceId << 32) | groupId,
          _ -> {
            names.add(
                "namespace %s, %s"
                    .formatted(
                        known.namespaceName(namespaceId), known.group(namespaceId, groupId)));
            return names.size() - 1;
          });
    }

    String name(int number) {
      return names.get(number);
    }
  }

  /** How the blocks of one group changed. */
  private static final class BlockChange {
    final LongRanges.Builder added = new LongRanges.Builder();
    final LongRanges.Builder removed = new LongRanges.Builder();
    final LongRanges.Builder sealed = new LongRanges.Builder();
  }

  private final Snap from;
  private final Snap to;
  private final Places places;
  private final List<String> notes;

  private Diff(Snap from, Snap to, Places places, List<String> notes) {
    this.from = from;
    this.to = to;
    this.places = places;
    this.notes = notes;
  }

  /** Folds to both moments; the earlier of them is where the comparison starts. */
  public static Diff between(JournalDir dir, Moment a, Moment b, Progress progress)
      throws IOException {
    Places places = new Places();
    List<String> notes = new ArrayList<>();
    Snap first = snap(dir, a, places, notes, progress);
    Snap second = snap(dir, b, places, notes, progress);
    return first.position <= second.position
        ? new Diff(first, second, places, notes)
        : new Diff(second, first, places, notes);
  }

  private static Snap snap(
      JournalDir dir, Moment at, Places places, List<String> notes, Progress progress)
      throws IOException {
    Watcher watcher =
        new Watcher(progress) {
          @Override
          void see(Fact fact, HostState before) {}
        };
    Replay replay = dir.fold(JournalDir.until(ReplayOptions.QUICK, at), watcher);
    if (!(replay.ending() instanceof Replay.Ending.Complete)) {
      notes.addAll(Notes.of(replay));
    }
    return new Snap(replay.state(), watcher.names, places);
  }

  /** Whether both moments could be folded to. */
  public boolean complete() {
    return notes.isEmpty();
  }

  private Map<String, BlockChange> blockChanges() {
    Map<String, BlockChange> changes = new TreeMap<>();
    BiFunction<Snap, Integer, BlockChange> of =
        (snap, i) -> changes.computeIfAbsent(places.name(snap.places[i]), _ -> new BlockChange());
    int i = 0;
    int j = 0;
    while (i < from.blockIds.length || j < to.blockIds.length) {
      long left = i < from.blockIds.length ? from.blockIds[i] : Long.MAX_VALUE;
      long right = j < to.blockIds.length ? to.blockIds[j] : Long.MAX_VALUE;
      if (left < right) {
        of.apply(from, i++).removed.add(left);
      } else if (right < left) {
        of.apply(to, j++).added.add(right);
      } else {
        if (to.sealed[j] && !from.sealed[i]) {
          of.apply(to, j).sealed.add(right);
        }
        i++;
        j++;
      }
    }
    return changes;
  }

  private static void flatten(JsonNode node, String path, Map<String, Long> into) {
    node.properties()
        .forEach(
            entry -> {
              String name = path + entry.getKey();
              if (entry.getValue().isObject()) {
                flatten(entry.getValue(), name + ".", into);
              } else {
                into.put(name, entry.getValue().asLong());
              }
            });
  }

  private Map<String, Long> totalsDelta() {
    Map<String, Long> delta = new TreeMap<>();
    to.totals.forEach(
        (name, value) -> {
          long change = value - from.totals.getOrDefault(name, 0L);
          if (change != 0) {
            delta.put(name, change);
          }
        });
    return delta;
  }

  // ---- text ------------------------------------------------------------------------------------

  /** Writes it for a person. */
  public void print(PrintWriter out, Times times) {
    out.printf("From %s, %s%n", Words.count(from.position), times.text(from.atMicros));
    out.printf(
        "to   %s, %s: %s, %s%n",
        Words.count(to.position),
        times.text(to.atMicros),
        Words.count(to.position - from.position, "fact"),
        Words.duration(to.atMicros - from.atMicros));
    if (from.digest == to.digest) {
      out.println("  the same state");
    }
    out.println();
    out.printf(
        "Blocks: %s to %s, %s to %s%n",
        Words.count(from.blockIds.length),
        Words.count(to.blockIds.length),
        Words.bytes(from.extentBytes),
        Words.bytes(to.extentBytes));
    blockChanges()
        .forEach(
            (place, change) -> {
              out.println("  " + place);
              blocks(out, "+ added", change.added.build());
              blocks(out, "- removed", change.removed.build());
              blocks(out, "* sealed", change.sealed.build());
            });
    named(out, "Instances", from.instances, to.instances);
    named(out, "Sessions", from.sessions, to.sessions);
    named(out, "Open leases", from.leases, to.leases);
    out.println();
    out.println("Totals");
    Map<String, Long> delta = totalsDelta();
    if (delta.isEmpty()) {
      out.println("  none changed");
    }
    delta.forEach((name, change) -> out.printf("  %s +%s%n", name, Words.count(change)));
    notes.forEach(note -> out.println("note: " + note));
    out.flush();
  }

  private static void blocks(PrintWriter out, String what, LongRanges blocks) {
    if (!blocks.isEmpty()) {
      out.printf("    %-9s %s%n", what, FactText.blocks(blocks));
    }
  }

  private static void named(
      PrintWriter out, String what, Map<Long, String> before, Map<Long, String> after) {
    List<String> lines = new ArrayList<>();
    after.forEach(
        (id, name) -> {
          if (!before.containsKey(id)) {
            lines.add("  + " + id + " " + name);
          }
        });
    before.forEach(
        (id, name) -> {
          if (!after.containsKey(id)) {
            lines.add("  - " + id + " " + name);
          }
        });
    out.println();
    out.printf("%s: %s to %s%n", what, Words.count(before.size()), Words.count(after.size()));
    lines.stream().limit(MAX_NAMED).forEach(out::println);
    if (lines.size() > MAX_NAMED) {
      out.printf("  and %s more%n", Words.count(lines.size() - MAX_NAMED));
    }
  }

  // ---- JSON ------------------------------------------------------------------------------------

  /** The same as JSON. */
  public ObjectNode json() {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.put("fromPosition", from.position);
    root.put("toPosition", to.position);
    root.put("fromDigest", Words.hex(from.digest));
    root.put("toDigest", Words.hex(to.digest));
    ObjectNode blocks = root.putObject("blocks");
    blockChanges()
        .forEach(
            (place, change) -> {
              ObjectNode node = blocks.putObject(place);
              put(node.putArray("added"), change.added.build());
              put(node.putArray("removed"), change.removed.build());
              put(node.putArray("sealed"), change.sealed.build());
            });
    changes(root.putObject("instances"), from.instances, to.instances);
    changes(root.putObject("sessions"), from.sessions, to.sessions);
    changes(root.putObject("leases"), from.leases, to.leases);
    ObjectNode totals = root.putObject("totals");
    totalsDelta().forEach(totals::put);
    return root;
  }

  private static void put(ArrayNode array, LongRanges ranges) {
    for (int run = 0; run < ranges.runs(); run++) {
      array.addArray().add(ranges.first(run)).add(ranges.first(run) + ranges.count(run) - 1);
    }
  }

  private static void changes(ObjectNode node, Map<Long, String> before, Map<Long, String> after) {
    ArrayNode added = node.putArray("added");
    ArrayNode removed = node.putArray("removed");
    after.keySet().stream().filter(id -> !before.containsKey(id)).forEach(added::add);
    before.keySet().stream().filter(id -> !after.containsKey(id)).forEach(removed::add);
  }
}
