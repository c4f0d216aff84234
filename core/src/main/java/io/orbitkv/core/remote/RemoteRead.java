package io.orbitkv.core.remote;

import io.orbitkv.core.ssd.SliceShape;
import io.orbitkv.state.HostEvent.RemoteFailure;
import io.orbitkv.state.identity.StateKey;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that are read from one owner into extents of this host's pool. The loop makes it; {@link
 * RemoteBlocks} asks the owner for a grant, writes what comes of it into this object from any
 * thread, one at a time, and hands it back; then the loop reads it.
 *
 * <p>A block has arrived when {@link #given} took what the owner said of it and {@link #verify}
 * held for each of its slices. Whoever forgets to verify loads nothing.
 */
public final class RemoteRead {

  /**
   * Where one shard's slice goes.
   *
   * @param poolOffset in this host's pool
   * @param bytes how many bytes the owner must give, which may be fewer than the extent has
   */
  public record Slice(long poolOffset, int bytes, SliceShape shape) {}

  /**
   * One block.
   *
   * @param key its exact key
   * @param tier where the owner should have it
   * @param generation its generation there, as the evidence said
   * @param slices one for each shard, or one if its group is replicated
   */
  public record Block(StateKey key, RemoteTier tier, long generation, List<Slice> slices) {
    /** Copies the list. */
    public Block {
      slices = List.copyOf(slices);
    }
  }

  private final long id;
  private final PeerRun owner;
  private final String format;
  private final List<Block> blocks;
  private final MemorySegment pool;
  private final long timeoutMillis;
  private final long[][] checksums;
  private final boolean[][] verified;
  private final boolean[] given;
  private @Nullable UUID grant;
  private @Nullable RemoteFailure failure;
  private String detail = "";
  private volatile boolean stopped;

  /**
   * A read that has not begun.
   *
   * @param id the loop's number of it, that of its facts
   * @param format what the owner compares, see {@link GrantFormat}
   * @param blocks at least one, all of one namespace
   * @param pool this host's pool
   * @param timeoutMillis after which it has failed
   */
  public RemoteRead(
      long id,
      PeerRun owner,
      String format,
      List<Block> blocks,
      MemorySegment pool,
      long timeoutMillis) {
    this.id = id;
    this.owner = owner;
    this.format = format;
    this.blocks = List.copyOf(blocks);
    this.pool = pool;
    this.timeoutMillis = timeoutMillis;
    this.checksums = new long[blocks.size()][];
    this.verified = new boolean[blocks.size()][];
    this.given = new boolean[blocks.size()];
    for (int block = 0; block < checksums.length; block++) {
      checksums[block] = new long[blocks.get(block).slices().size()];
      verified[block] = new boolean[blocks.get(block).slices().size()];
    }
  }

  /** The loop's number of it. */
  public long id() {
    return id;
  }

  /** Who is asked: this run, no other. */
  public PeerRun owner() {
    return owner;
  }

  /** What the owner compares with its own. */
  public String format() {
    return format;
  }

  /** What is read. */
  public List<Block> blocks() {
    return blocks;
  }

  /**
   * Milliseconds from the call of {@link RemoteBlocks#read}, the request for the grant included.
   */
  public long timeoutMillis() {
    return timeoutMillis;
  }

  /** The memory that a slice goes to: native, of {@link Slice#bytes} bytes. */
  public MemorySegment destination(int block, int slice) {
    Slice at = blocks.get(block).slices().get(slice);
    return pool.asSlice(at.poolOffset(), at.bytes());
  }

  /** Nobody wants it any more: it may be given up, and is still handed back. */
  public void stop() {
    stopped = true;
  }

  /** Whether {@link #stop} was called. */
  public boolean stopped() {
    return stopped;
  }

  // ---- what comes of it, in this order

  /** The owner gave a grant. */
  public void granted(UUID grantId) {
    grant = grantId;
  }

  /**
   * The owner gave a block.
   *
   * @param block its place in {@link #blocks}
   * @param bytes of each slice, in the order of shards
   * @param sums what each slice's bytes must sum up to; copied
   * @return false if they are not what this host can take: nothing of the block may be read then
   */
  public boolean given(int block, long[] bytes, long[] sums) {
    List<Slice> slices = blocks.get(block).slices();
    boolean fits = bytes.length == slices.size() && sums.length == slices.size();
    for (int slice = 0; fits && slice < bytes.length; slice++) {
      fits = bytes[slice] == slices.get(slice).bytes();
    }
    if (fits) {
      checksums[block] = sums.clone();
      given[block] = true;
    } else {
      failed(
          RemoteFailure.MISBEHAVED,
          "the owner's slices of %s have other lengths".formatted(blocks.get(block).key()));
    }
    return fits;
  }

  /** Looks whether the bytes of a given slice, all of which have come, have their sum. */
  public boolean verify(int block, int slice) {
    Slice at = blocks.get(block).slices().get(slice);
    long expected = checksums[block][slice];
    boolean holds =
        given[block] && at.shape().checksum(pool, at.poolOffset(), expected) == expected;
    verified[block][slice] = holds;
    if (!holds) {
      failed(RemoteFailure.CORRUPT, "a slice of " + blocks.get(block).key());
    }
    return holds;
  }

  /** Something did not go well; the first reason counts for all blocks that do not arrive. */
  public void failed(RemoteFailure cause, String why) {
    if (failure == null) {
      failure = cause;
      detail = why;
    }
  }

  // ---- what came of it, when it is handed back

  /** The grant under which it was read, null if there was none. */
  public @Nullable UUID grant() {
    return grant;
  }

  /** Whether every byte of a block is in place and has its sum. */
  public boolean arrived(int block) {
    boolean all = given[block];
    for (boolean each : verified[block]) {
      all &= each;
    }
    return all;
  }

  /** What a slice's bytes sum up to. */
  public long checksum(int block, int slice) {
    return checksums[block][slice];
  }

  /** Why something did not arrive; null if nobody said. */
  public @Nullable RemoteFailure failure() {
    return failure;
  }

  /** The reason in words, possibly none. */
  public String detail() {
    return detail;
  }
}
