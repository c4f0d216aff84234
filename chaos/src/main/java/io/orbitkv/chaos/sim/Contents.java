package io.orbitkv.chaos.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Every content that was ever published. Each publish of a key writes other bytes, which name the
 * publish, so that a page tells where its bytes come from.
 */
final class Contents {
  /** One page that was to be published. */
  static final class Content {
    final long id;
    final Name name;
    final int slice;
    final long epoch;

    /** When the loop took the publish, 0 before. */
    long handled;

    /** When the engine was told that it is stored, 0 if it never was. */
    long stored;

    /** Whether the engine was told what became of it. */
    boolean answered;

    /** Whether the process died before it could tell. */
    boolean unknown;

    Content(long id, Name name, int slice, long epoch) {
      this.id = id;
      this.name = name;
      this.slice = slice;
      this.epoch = epoch;
    }

    @Override
    public String toString() {
      return "content " + id + " of " + name + " slice " + slice;
    }
  }

  private final List<Content> all = new ArrayList<>();
  private final Map<Name, List<Content>> byName = new HashMap<>();
  private final Map<Name, Long> dropped = new HashMap<>();

  Content add(Name name, int slice, long epoch) {
    Content content = new Content(all.size() + 1L, name, slice, epoch);
    all.add(content);
    byName.computeIfAbsent(name, _ -> new ArrayList<>()).add(content);
    return content;
  }

  @Nullable Content get(long id) {
    return id >= 1 && id <= all.size() ? all.get((int) id - 1) : null;
  }

  List<Content> of(Name name) {
    return byName.getOrDefault(name, List.of());
  }

  /** Whoever was handled before is told to be gone. */
  void drop(Name name, long before) {
    dropped.merge(name, before, Math::max);
  }

  void dropAll(@Nullable String namespace, long before) {
    for (Name name : byName.keySet()) {
      if (namespace == null || name.namespace().equals(namespace)) {
        drop(name, before);
      }
    }
  }

  /** A lease from now on holds no content that was handled before this. */
  long droppedBefore(Name name) {
    return dropped.getOrDefault(name, 0L);
  }

  /** The process died: what it had taken and not answered may be stored, or not. */
  void processDied(long sequence) {
    for (Content content : all) {
      if (content.handled > 0 && !content.answered) {
        content.answered = true;
        content.unknown = true;
        content.stored = sequence;
      }
    }
  }

  /** Whether a slice was stored and not dropped since. */
  boolean stored(Name name, int slice) {
    long since = droppedBefore(name);
    for (Content content : of(name)) {
      if (content.slice == slice && content.stored > 0 && content.handled >= since) {
        return true;
      }
    }
    return false;
  }

  int storedEver(Name name) {
    int stored = 0;
    for (Content content : of(name)) {
      stored += content.stored > 0 && !content.unknown ? 1 : 0;
    }
    return stored;
  }
}
