package io.orbitkv.client.contract;

import io.orbitkv.client.Answer;
import io.orbitkv.client.ClientOptions;
import io.orbitkv.client.HostBuffer;
import io.orbitkv.client.OrbitClient;
import io.orbitkv.client.Registration;
import io.orbitkv.client.control.Register;
import io.orbitkv.client.control.Register.Buffer;
import io.orbitkv.client.control.Register.BufferKind;
import io.orbitkv.client.control.Register.Component;
import io.orbitkv.client.control.Register.Format;
import io.orbitkv.client.control.Register.Group;
import io.orbitkv.client.control.Register.Layer;
import io.orbitkv.client.control.Register.Parallel;
import io.orbitkv.client.control.Register.Role;
import io.orbitkv.client.control.Register.Rule;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.ffi.NativeException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A small engine for tests: some groups of two layers each in one HOST buffer, {@value #BLOCKS}
 * blocks of {@value #BLOCK_BYTES} bytes a group, one layer of whole blocks and one of two planes.
 */
public final class ContractEngine implements AutoCloseable {
  /** Blocks of each group in the buffer. */
  public static final int BLOCKS = 32;

  /** Bytes of a block. */
  public static final int BLOCK_BYTES = 6144;

  /** Tokens of a page. */
  public static final int PAGE = 64;

  private static final int LAYER0_BYTES = 4096;
  private static final int LAYER1_BYTES = 2048;
  private static final long GROUP_BYTES = (long) BLOCKS * BLOCK_BYTES;
  private static final int KEY_BYTES = 32;

  private final String name;
  private final List<Group> groups;
  private final int shard;
  private final int shardCount;
  private final HostBuffer buffer;

  private ContractEngine(
      String name, List<Group> groups, int shard, int shardCount, HostBuffer buffer) {
    this.name = name;
    this.groups = groups;
    this.shard = shard;
    this.shardCount = shardCount;
    this.buffer = buffer;
  }

  /** An engine with one prefix group, alone. */
  public static ContractEngine simple(String name) throws NativeException {
    return of(name, List.of(group(0, Rule.PREFIX)), 0, 1);
  }

  /** An engine with these groups that is one shard of some. */
  public static ContractEngine of(String name, List<Group> groups, int shard, int shardCount)
      throws NativeException {
    HostBuffer buffer = HostBuffer.create("contract", GROUP_BYTES * groups.size());
    return new ContractEngine(name, groups, shard, shardCount, buffer);
  }

  /** A group of {@value #PAGE}-token pages; a window is 100 tokens. */
  public static Group group(int groupId, Rule rule) {
    Component component = rule == Rule.CHECKPOINT ? Component.RECURRENT : Component.ATTENTION_KV;
    Integer window = rule == Rule.WINDOW ? 100 : null;
    return new Group(groupId, component, PAGE, rule, window, false, BLOCK_BYTES);
  }

  /** A prefix group of which every shard holds the same bytes. */
  public static Group replicated(int groupId) {
    return new Group(groupId, Component.MLA, PAGE, Rule.PREFIX, null, true, BLOCK_BYTES);
  }

  /** The instance's and the namespace's name. */
  public String name() {
    return name;
  }

  /** The declaration. */
  public Register register() {
    return register(name, Role.LOAD);
  }

  /** The declaration under another instance name. */
  public Register register(String instance, Role role) {
    boolean query = role == Role.QUERY;
    return new Register(
        instance,
        name,
        new Format("model", "impl", "bf16", "NHD", new Parallel(shardCount, 1, 1, 8)),
        query ? 0 : shard,
        shardCount,
        role,
        null,
        groups,
        query ? List.of() : List.of(new Buffer(BufferKind.HOST, buffer.bytes())),
        query ? List.of() : layers());
  }

  /** The declaration and the buffer. */
  public Registration registration() {
    return new Registration(register(), List.of(buffer));
  }

  /** The memory. */
  public HostBuffer buffer() {
    return buffer;
  }

  /** Connects and registers. */
  public OrbitClient connect(ManagerUnderTest manager) {
    return tryConnect(manager).orThrow();
  }

  /** Connects and registers, or says why not. */
  public Answer<OrbitClient> tryConnect(ManagerUnderTest manager) {
    return OrbitClient.connect(ClientOptions.of(manager.socketPath()), registration());
  }

  /** Connects and registers as a process without buffers. */
  public OrbitClient connectQuery(ManagerUnderTest manager) {
    return OrbitClient.connect(
            ClientOptions.of(manager.socketPath()),
            new Registration(register(name, Role.QUERY), List.of()))
        .orThrow();
  }

  /** Keys that are the same for the same seed and index. */
  public static KeyRun keys(long seed, int count) {
    byte[] packed = new byte[KEY_BYTES * count];
    for (int i = 0; i < count; i++) {
      byte[] key = new byte[KEY_BYTES];
      new Random(seed * 1_000_003 + i).nextBytes(key);
      System.arraycopy(key, 0, packed, i * KEY_BYTES, KEY_BYTES);
    }
    return KeyRun.of(packed, KEY_BYTES);
  }

  /** A query of the only group from token 0. */
  public static QueryRequest query(String request, KeyRun keys) {
    return query(request, 0, 0, keys);
  }

  /** A query of some groups, the first with the first keys. */
  public static QueryRequest query(String request, int start, int limit, KeyRun... keys) {
    List<QueryRequest.GroupKeys> asked = new ArrayList<>();
    for (int g = 0; g < keys.length; g++) {
      asked.add(new QueryRequest.GroupKeys(g, keys[g]));
    }
    return new QueryRequest(start, limit, request, asked);
  }

  /** A publish out of consecutive blocks. */
  public static PublishRequest publish(int groupId, KeyRun keys, int firstBlock) {
    return new PublishRequest(groupId, "publish", keys, IntRun.range(firstBlock, keys.count()));
  }

  /** A restore of one group into consecutive blocks. */
  public static RestoreRequest restore(int groupId, int fromToken, int firstBlock, int count) {
    return new RestoreRequest(
        "restore",
        List.of(
            new RestoreRequest.GroupPages(groupId, fromToken, IntRun.range(firstBlock, count))));
  }

  /** Fills a block with bytes that are the same for the same seed. */
  public void fill(int groupId, int block, long seed) {
    write(groupId, block, bytes(seed));
  }

  /** Bytes that are the same for the same seed. */
  public static byte[] bytes(long seed) {
    byte[] bytes = new byte[BLOCK_BYTES];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  /** Writes a block's slice. */
  public void write(int groupId, int block, byte[] slice) {
    for (Piece piece : pieces(groupId, block)) {
      MemorySegment.copy(
          slice,
          piece.inSlice,
          buffer.segment(),
          ValueLayout.JAVA_BYTE,
          piece.inBuffer,
          piece.bytes);
    }
  }

  /** Reads a block's slice. */
  public byte[] read(int groupId, int block) {
    byte[] slice = new byte[BLOCK_BYTES];
    for (Piece piece : pieces(groupId, block)) {
      MemorySegment.copy(
          buffer.segment(),
          ValueLayout.JAVA_BYTE,
          piece.inBuffer,
          slice,
          piece.inSlice,
          piece.bytes);
    }
    return slice;
  }

  @Override
  public void close() {
    buffer.close();
  }

  private record Piece(int inSlice, long inBuffer, int bytes) {}

  /** Where a block lies, worked out apart from the declaration's strides. */
  private List<Piece> pieces(int groupId, int block) {
    long base = GROUP_BYTES * groupId;
    long planes = base + (long) BLOCKS * LAYER0_BYTES;
    int half = LAYER1_BYTES / 2;
    return List.of(
        new Piece(0, base + (long) block * LAYER0_BYTES, LAYER0_BYTES),
        new Piece(LAYER0_BYTES, planes + (long) block * half, half),
        new Piece(LAYER0_BYTES + half, planes + (long) (BLOCKS + block) * half, half));
  }

  private List<Layer> layers() {
    List<Layer> layers = new ArrayList<>();
    int half = LAYER1_BYTES / 2;
    for (int g = 0; g < groups.size(); g++) {
      int groupId = groups.get(g).groupId();
      long base = GROUP_BYTES * g;
      long planes = base + (long) BLOCKS * LAYER0_BYTES;
      layers.add(
          new Layer(groupId, 2 * g, 0, base, BLOCKS, LAYER0_BYTES, 1, LAYER0_BYTES, LAYER0_BYTES));
      layers.add(
          new Layer(groupId, 2 * g + 1, 0, planes, BLOCKS, half, 2, (long) BLOCKS * half, half));
    }
    return layers;
  }
}
