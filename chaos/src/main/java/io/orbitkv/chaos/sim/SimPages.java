package io.orbitkv.chaos.sim;

import io.orbitkv.chaos.sim.ModelPlan.GroupPlan;
import io.orbitkv.core.copy.EngineBuffers;
import io.orbitkv.core.copy.GroupLayout;
import io.orbitkv.core.copy.HostBuffers;
import io.orbitkv.core.copy.LayerLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The pages of one engine process. Copies go through {@link HostBuffers}, checksums and all; this
 * looks over their shoulder, breaks them, and stops in the middle of them.
 */
final class SimPages implements EngineBuffers {
  static final int BLOCKS = 14;

  /** Told of every copy of one block's layer. */
  interface Watcher {
    /** Before bytes move between an extent and a page. */
    void touches(long extentOffset, int extentBytes);

    /** After they have moved: other things may happen before the copy goes on. */
    void moved();
  }

  private final ModelPlan model;
  private final Watcher watcher;
  private final MemorySegment memory;
  private final HostBuffers buffers;
  private final BitSet[] busy;

  /** Copies take the way of those that are larger than the caches, whatever their size. */
  private final boolean streamed;

  private boolean closed;
  private boolean abandoned;

  /** Every copy fails from here on, as when the engine's memory file was truncated. */
  boolean failing;

  SimPages(ModelPlan model, Arena arena, Draws draws, Watcher watcher) {
    this.model = model;
    this.watcher = watcher;
    List<LayerLayout> layers = new ArrayList<>();
    long at = 0;
    for (GroupPlan group : model.groups()) {
      int blockBytes = group.segments() * group.segmentBytes();
      boolean byBlock = draws.oneIn(2);
      for (int l = 0; l < group.layers(); l++) {
        layers.add(
            new LayerLayout(
                group.spec().groupId(),
                l,
                0,
                at,
                BLOCKS,
                byBlock ? blockBytes : group.segmentBytes(),
                group.segments(),
                byBlock ? group.segmentBytes() : (long) BLOCKS * group.segmentBytes(),
                group.segmentBytes()));
        at += (long) BLOCKS * blockBytes;
      }
    }
    this.memory = arena.allocate(at, 8);
    this.buffers =
        Objects.requireNonNull(
            HostBuffers.describe(List.of(memory), layers, draws.oneIn(2), () -> {}).buffers(),
            "layers");
    this.streamed = draws.oneIn(2);
    this.busy = new BitSet[model.groups().size()];
    for (int g = 0; g < busy.length; g++) {
      busy[g] = new BitSet(BLOCKS);
    }
  }

  // ---- the engine's side
  // -------------------------------------------------------------------------------------------

  /** Some pages of a group that nothing uses, and uses them; null when there are not so many. */
  int @Nullable [] take(int group, int count, Draws draws) {
    if (BLOCKS - busy[group].cardinality() < count) {
      return null;
    }
    int[] pages = new int[count];
    int at = draws.below(BLOCKS);
    for (int i = 0; i < count; i++) {
      while (busy[group].get(at % BLOCKS)) {
        at++;
      }
      pages[i] = at % BLOCKS;
      busy[group].set(pages[i]);
    }
    return pages;
  }

  void giveBack(int group, int[] pages) {
    for (int page : pages) {
      busy[group].clear(page);
    }
  }

  /** Writes the bytes of one content into a page. */
  void write(int group, int page, long content) {
    GroupLayout layout = layoutAt(group);
    for (int l = 0; l < layout.layerCount(); l++) {
      LayerLayout layer = layout.layer(l);
      for (int at = 0; at < layer.blockBytes(); at++) {
        memory.set(ValueLayout.JAVA_BYTE, address(layer, page, at), content(content, l, at));
      }
    }
  }

  /** The content whose bytes a page holds, -1 if they are not of one content. */
  long read(int group, int page) {
    GroupLayout layout = layoutAt(group);
    long content = 0;
    for (int at = 0; at < Long.BYTES; at++) {
      long value = memory.get(ValueLayout.JAVA_BYTE, address(layout.layer(0), page, at)) & 0xffL;
      content |= value << (8 * at);
    }
    for (int l = 0; l < layout.layerCount(); l++) {
      LayerLayout layer = layout.layer(l);
      for (int at = 0; at < layer.blockBytes(); at++) {
        if (memory.get(ValueLayout.JAVA_BYTE, address(layer, page, at))
            != content(content, l, at)) {
          return -1;
        }
      }
    }
    return content;
  }

  /** A page begins with its content's number; all else is mixed from that. */
  private static byte content(long content, int layer, int at) {
    long word = at / Long.BYTES + 64L * layer;
    return (byte)
        ((word == 0 ? content : Draws.mix(content * 0x1_0001 + word)) >>> (8 * (at % Long.BYTES)));
  }

  private static long address(LayerLayout layer, int page, int at) {
    return layer.baseOffset()
        + page * layer.blockStride()
        + at / layer.segmentBytes() * layer.segmentStride()
        + at % layer.segmentBytes();
  }

  private GroupLayout layoutAt(int group) {
    return Objects.requireNonNull(
        buffers.layout(model.groups().get(group).spec().groupId()), "layout");
  }

  /** The process that copied is gone; a copy that it was in the middle of moves nothing more. */
  void abandon() {
    abandoned = true;
  }

  boolean closed() {
    return closed;
  }

  // ---- the Manager's side
  // ------------------------------------------------------------------------------------------

  @Override
  public @Nullable GroupLayout layout(int groupId) {
    return buffers.layout(groupId);
  }

  @Override
  public long gather(
      GroupLayout layout,
      int layerIndex,
      int block,
      MemorySegment pool,
      long extentOffset,
      boolean streaming) {
    before(layout, extentOffset);
    long sum = buffers.gather(layout, layerIndex, block, pool, extentOffset, streaming || streamed);
    watcher.moved();
    before(layout, extentOffset);
    return sum;
  }

  @Override
  public long scatter(
      GroupLayout layout,
      int layerIndex,
      int block,
      MemorySegment pool,
      long extentOffset,
      boolean verify,
      boolean streaming) {
    before(layout, extentOffset);
    long sum =
        buffers.scatter(
            layout, layerIndex, block, pool, extentOffset, verify, streaming || streamed);
    watcher.moved();
    before(layout, extentOffset);
    return sum;
  }

  private void before(GroupLayout layout, long extentOffset) {
    if (abandoned) {
      throw new IllegalStateException("the process is gone");
    }
    if (closed) {
      throw new Violation(Rule.UNMAPPED_PAGES, "a copy touches pages that were given back");
    }
    if (failing) {
      throw new IllegalStateException("bus error");
    }
    watcher.touches(extentOffset, layout.extentBytes());
  }

  @Override
  public String kind() {
    return buffers.kind();
  }

  @Override
  public void close() {
    closed = true;
  }
}
