package io.orbitkv.state;

import io.orbitkv.state.identity.StateFormat;
import java.util.List;

/** A namespace with its only legal format, and who uses it. */
public final class BoundNamespace {
  private final int id;
  private final String name;
  private final StateFormat format;
  private final int shardCount;
  private final long position;
  final List<GroupRow> groups;
  int instances;

  BoundNamespace(
      int id,
      String name,
      StateFormat format,
      int shardCount,
      long position,
      List<GroupRow> groups) {
    this.id = id;
    this.name = name;
    this.format = format;
    this.shardCount = shardCount;
    this.position = position;
    this.groups = groups;
  }

  public int id() {
    return id;
  }

  public String name() {
    return name;
  }

  public StateFormat format() {
    return format;
  }

  /** Slices of a block that is not replicated. */
  public int shardCount() {
    return shardCount;
  }

  /** The position of the fact that bound it. */
  public long position() {
    return position;
  }

  /** Registered instances. */
  public int instances() {
    return instances;
  }

  /** Blocks of all groups, evicted ones that are still pinned among them. */
  public long blocks() {
    long blocks = 0;
    for (GroupRow group : groups) {
      blocks += group.blocks;
    }
    return blocks;
  }

  long digestPart() {
    long hash = Mix.chain(Mix.chain(Mix.chain(id, name), shardCount), position);
    return Mix.mix(Mix.chain(hash, format.canonicalText()));
  }

  @Override
  public String toString() {
    return "namespace " + id + " " + name;
  }
}
