package io.orbitkv.client.fake;

import io.orbitkv.client.control.Register;
import io.orbitkv.client.control.Register.Group;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.QueryAnswer;
import io.orbitkv.client.wire.QueryRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The blocks of the fake Manager: plain maps, no bound, no eviction. */
final class FakeCache {
  private record BlockKey(String namespace, int groupId, String key) {}

  /** One block and the slices that were published of it. */
  static final class Block {
    private final Map<Integer, byte[]> slices = new HashMap<>();
    private final int wanted;

    Block(int wanted) {
      this.wanted = wanted;
    }

    boolean sealed() {
      return slices.size() == wanted;
    }

    byte @Nullable [] slice(int shard) {
      return slices.get(wanted == 1 ? 0 : shard);
    }

    void store(int shard, byte[] slice) {
      slices.put(wanted == 1 ? 0 : shard, slice);
    }
  }

  /** A namespace and what its first registration bound. */
  static final class Namespace {
    final int id;
    final Register bound;
    final Map<Integer, List<Long>> layerBytesByShard = new HashMap<>();

    Namespace(int id, Register bound) {
      this.id = id;
      this.bound = bound;
    }

    List<Group> groups() {
      return FakeBuffers.list(bound.groups());
    }
  }

  /** What a query found. */
  record Found(int boundary, QueryAnswer answer, List<List<Block>> blocks) {}

  private final Map<BlockKey, Block> blocks = new HashMap<>();
  final Map<String, Namespace> namespaces = new HashMap<>();

  Block block(Namespace namespace, Group group, KeyRun keys, int index) {
    BlockKey key = key(namespace, group.groupId(), keys, index);
    int slices = group.replicated() ? 1 : namespace.bound.shardCount();
    return blocks.computeIfAbsent(key, _ -> new Block(slices));
  }

  /** The longest legal boundary, with blocks that are on their way counted as found or not. */
  int boundary(Namespace namespace, QueryRequest query, boolean countUnsealed) {
    List<Integer> legal = boundaries(namespace, query, countUnsealed);
    return legal.isEmpty() ? query.startToken() : legal.getLast();
  }

  /** The answer to a query without its lease. */
  Found find(Namespace namespace, QueryRequest query, boolean allBoundaries) {
    List<Integer> legal = boundaries(namespace, query, false);
    int chosen = legal.isEmpty() ? query.startToken() : legal.getLast();
    List<QueryAnswer.GroupRange> ranges = new ArrayList<>();
    List<List<Block>> held = new ArrayList<>();
    for (int g = 0; g < namespace.groups().size(); g++) {
      Group group = namespace.groups().get(g);
      KeyRun keys = query.groups().get(g).keys();
      int from = from(group, query.startToken(), chosen);
      List<Block> leased = new ArrayList<>();
      for (int token = from; token < chosen; token += group.pageTokens()) {
        int page = (token - query.startToken()) / group.pageTokens();
        leased.add(block(namespace, group, keys, page));
      }
      held.add(leased);
      int hits = 0;
      for (int i = 0; i < keys.count(); i++) {
        Block block = blocks.get(key(namespace, group.groupId(), keys, i));
        hits += block != null && block.sealed() ? 1 : 0;
      }
      ranges.add(new QueryAnswer.GroupRange(group.groupId(), from, chosen, hits));
    }
    List<Integer> shown = new ArrayList<>();
    for (int boundary : legal) {
      if (allBoundaries || covered(namespace, query.startToken(), boundary, chosen)) {
        shown.add(boundary);
      }
    }
    IntRun run = IntRun.of(shown.stream().mapToInt(Integer::intValue).toArray());
    return new Found(chosen, new QueryAnswer(0, 0, query.startToken(), chosen, ranges, run), held);
  }

  static int alignment(List<Group> groups) {
    long alignment = 1;
    for (Group group : groups) {
      long a = alignment;
      while (alignment % group.pageTokens() != 0) {
        alignment += a;
      }
    }
    return (int) alignment;
  }

  private List<Integer> boundaries(Namespace namespace, QueryRequest query, boolean countUnsealed) {
    int step = alignment(namespace.groups());
    long end = 0;
    for (int g = 0; g < namespace.groups().size(); g++) {
      int count = query.groups().get(g).keys().count();
      end =
          Math.max(end, query.startToken() + (long) count * namespace.groups().get(g).pageTokens());
    }
    if (query.limitToken() > 0) {
      end = Math.min(end, query.limitToken());
    }
    List<Integer> legal = new ArrayList<>();
    for (int boundary = query.startToken() + step; boundary <= end; boundary += step) {
      if (isLegal(namespace, query, boundary, countUnsealed)) {
        legal.add(boundary);
      }
    }
    return legal;
  }

  private boolean isLegal(
      Namespace namespace, QueryRequest query, int boundary, boolean countUnsealed) {
    for (int g = 0; g < namespace.groups().size(); g++) {
      Group group = namespace.groups().get(g);
      KeyRun keys = query.groups().get(g).keys();
      int from = from(group, query.startToken(), boundary);
      for (int token = from; token < boundary; token += group.pageTokens()) {
        int page = (token - query.startToken()) / group.pageTokens();
        if (page >= keys.count()) {
          return false;
        }
        Block block = blocks.get(key(namespace, group.groupId(), keys, page));
        if (block == null || !(countUnsealed || block.sealed())) {
          return false;
        }
      }
    }
    return true;
  }

  private static boolean covered(Namespace namespace, int start, int boundary, int chosen) {
    for (Group group : namespace.groups()) {
      if (from(group, start, boundary) < from(group, start, chosen)) {
        return false;
      }
    }
    return true;
  }

  private static int from(Group group, int start, int end) {
    int page = group.pageTokens();
    Integer window = group.windowTokens();
    int needed =
        switch (group.rule()) {
          case PREFIX -> end - start;
          case WINDOW -> Math.ceilDiv(window == null ? page : window, page) * page;
          case CHECKPOINT -> page;
        };
    return Math.max(start, end - needed);
  }

  private static BlockKey key(Namespace namespace, int groupId, KeyRun keys, int index) {
    return new BlockKey(
        namespace.bound.namespace(), groupId, HexFormat.of().formatHex(keys.key(index)));
  }
}
