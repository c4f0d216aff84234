package io.orbitkv.state;

import io.orbitkv.state.HostEvent.AbortReason;
import io.orbitkv.state.HostEvent.CleanupReason;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.Operation;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.HostEvent.TicketEnd;
import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.ParallelShape;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.identity.StateComponent;
import io.orbitkv.state.identity.StateFormat;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Facts as one line of text, for transcripts: a verb, plain words, then {@code name=value} pairs.
 *
 * <pre>
 * reserve 1 by=1 group=0 shard=0 blocks=1..2 from=1 keys=aa,ab at=0,64
 * lease 1 by=1 hold=0:1..2 asked=3
 * </pre>
 */
final class FactText {
  private final List<String> words = new ArrayList<>();
  private final Map<String, String> values = new HashMap<>();

  private FactText(String line) {
    for (String part : line.trim().split("\\s+", -1)) {
      int equals = part.indexOf('=');
      if (equals < 0) {
        words.add(part);
      } else {
        values.put(part.substring(0, equals), part.substring(equals + 1));
      }
    }
  }

  static HostEvent parse(String line) {
    FactText text = new FactText(line);
    long id = text.id();
    return switch (text.words.getFirst()) {
      case "epoch" -> new HostEvent.EpochStarted(id, "test", text.number("pool", 4096), "");
      case "end" -> new HostEvent.EpochEnded(id, "test");
      case "bind" ->
          new HostEvent.NamespaceBound(
              (int) id,
              text.words.get(2),
              format(text.list("groups", "0")),
              text.int32("shards", 1));
      case "unbind" -> new HostEvent.NamespaceUnbound((int) id);
      case "register" ->
          new HostEvent.InstanceRegistered(id, text.words.get(2), text.int32("in", 1));
      case "clean" -> new HostEvent.InstanceCleaned(id, CleanupReason.REQUESTED);
      case "open" ->
          new HostEvent.SessionOpened(
              id,
              text.number("of", 1),
              text.int32("shard", 0),
              SessionRole.valueOf(text.value("role", "LOAD")),
              100,
              1000,
              text.number("supersedes", 0));
      case "close" -> new HostEvent.SessionClosed(id, text.ending(SessionEnd.class));
      case "reserve" -> text.reserve(id);
      case "publish" -> new HostEvent.SlicesPublished(id, text.longs("sums"));
      case "abort" -> new HostEvent.PublishAborted(id, text.ending(AbortReason.class));
      case "evict" ->
          new HostEvent.BlocksEvicted(
              ranges(text.words.get(1)), text.ending(EvictionCause.class), 0, "");
      case "lease" ->
          new HostEvent.LeaseGranted(
              id,
              text.number("by", 1),
              "r" + id,
              text.number("ticket", 0),
              900,
              text.held(),
              text.answers());
      case "release" -> new HostEvent.LeaseReleased(id, text.ending(LeaseEnd.class));
      case "ticket" ->
          new HostEvent.TicketOpened(
              id, text.number("by", 1), "t" + id, ranges(text.value("awaits", "")));
      case "settle" ->
          new HostEvent.TicketClosed(id, text.ending(TicketEnd.class), text.number("lease", 0));
      case "restore" ->
          new HostEvent.RestoreStarted(
              id, text.number("by", 1), text.number("lease", 1), text.int32("blocks", 1), 64);
      case "restored" ->
          new HostEvent.RestoreFinished(id, text.ending(RestoreOutcome.class), 64, 10);
      case "miss" -> new HostEvent.QueryMissed(text.number("by", 1), "m", text.answers());
      case "refuse" ->
          new HostEvent.RequestRefused(
              text.number("by", 1),
              "x",
              Operation.QUERY,
              RefusalCategory.valueOf(text.words.getLast()),
              "test");
      case "mismatch" -> new HostEvent.RegistrationRefused("e", "n", "dtype", "differs");
      case "corrupt" -> new HostEvent.VerifyFailed(id, 0, 0, 1, 2);
      case "digest" -> new HostEvent.DigestRecorded(0, 0, 0);
      default -> throw new IllegalArgumentException("no such fact: " + line);
    };
  }

  private HostEvent reserve(long id) {
    LongRanges blocks = ranges(value("blocks", ""));
    long[] generations = new long[blocks.size()];
    for (int i = 0; i < generations.length; i++) {
      generations[i] = number("gen", 1);
    }
    String keys = value("keys", "");
    Keys newKeys =
        keys.isEmpty()
            ? Keys.EMPTY
            : Keys.ofPacked(
                keys.split(",", -1)[0].length() / 2,
                HexFormat.of().parseHex(keys.replace(",", "")));
    return new HostEvent.SlicesReserved(
        id,
        number("by", 1),
        "p" + id,
        int32("group", 0),
        int32("shard", 0),
        blocks,
        number("from", 0),
        newKeys,
        longs("at"),
        Longs.of(generations),
        int32("bytes", 64));
  }

  static StateFormat format(List<String> groups) {
    List<GroupSpec> specs = new ArrayList<>();
    for (String group : groups) {
      boolean replicated = group.endsWith("r");
      int groupId = Integer.parseInt(replicated ? group.substring(0, group.length() - 1) : group);
      RecoveryRule rule =
          groupId % 2 == 0 ? new RecoveryRule.Prefix() : new RecoveryRule.Window(100);
      specs.add(new GroupSpec(groupId, StateComponent.ATTENTION_KV, 64, rule, replicated, 4096));
    }
    return new StateFormat("model", "code", "bf16", "nhd", new ParallelShape(1, 1, 1, 8), specs);
  }

  static LongRanges ranges(String text) {
    LongRanges.Builder ranges = new LongRanges.Builder();
    for (String run : text.split(",", -1)) {
      int dots = run.indexOf("..");
      if (dots >= 0) {
        long first = Long.parseLong(run.substring(0, dots));
        ranges.addRun(first, (int) (Long.parseLong(run.substring(dots + 2)) - first + 1));
      } else if (!run.isEmpty()) {
        ranges.add(Long.parseLong(run));
      }
    }
    return ranges.build();
  }

  private List<GroupLease> held() {
    List<GroupLease> held = new ArrayList<>();
    for (String group : list("hold", "")) {
      int colon = group.indexOf(':');
      held.add(
          new GroupLease(
              Integer.parseInt(group.substring(0, colon)),
              0,
              ranges(group.substring(colon + 1).replace('+', ','))));
    }
    return held;
  }

  private List<GroupAnswer> answers() {
    int hit = 0;
    for (GroupLease group : held()) {
      hit += group.blocks().size();
    }
    return List.of(new GroupAnswer(0, int32("asked", hit), hit, Keys.EMPTY, 0));
  }

  /** The number behind the verb, 0 when there is none or a list. */
  private long id() {
    return words.size() > 1 && words.get(1).matches("\\d+") ? Long.parseLong(words.get(1)) : 0;
  }

  private String value(String name, String otherwise) {
    return values.getOrDefault(name, otherwise);
  }

  private long number(String name, long otherwise) {
    return Long.parseLong(value(name, Long.toString(otherwise)));
  }

  private int int32(String name, int otherwise) {
    return Math.toIntExact(number(name, otherwise));
  }

  private List<String> list(String name, String otherwise) {
    String value = value(name, otherwise);
    return value.isEmpty() ? List.of() : List.of(value.split(",", -1));
  }

  private Longs longs(String name) {
    return Longs.of(list(name, "").stream().mapToLong(Long::parseLong).toArray());
  }

  /** The last word if it is a constant, else the first constant. */
  private <E extends Enum<E>> E ending(Class<E> type) {
    for (E constant : type.getEnumConstants()) {
      if (constant.name().equals(words.getLast())) {
        return constant;
      }
    }
    return type.getEnumConstants()[0];
  }
}
