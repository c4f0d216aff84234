package io.orbitkv.client.control;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.orbitkv.client.control.JsonFields.Unknown;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.PayloadLimits;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The registration of a session: whose it is, what its blocks are, and where they lie in memory.
 * Decoding checks each field by itself; {@link RegisterCheck} checks them against each other.
 *
 * @param instance the model deployment, 1 to 128 visible ASCII characters
 * @param namespace what may share bytes, 1 to 200 visible ASCII characters
 * @param format what the bytes mean; null exactly when attaching
 * @param shard which slice this process holds, 0 to shardCount - 1
 * @param shardCount how many slices make a block, 1 to 1,024
 * @param role what the session is for
 * @param attachTo the session whose format, groups, buffers and layers are used, null for none
 * @param groups ascending by id; null exactly when attaching
 * @param buffers null exactly when attaching
 * @param layers null exactly when attaching
 * @param staging given exactly with CUDA_STAGED buffers
 */
public record Register(
    String instance,
    String namespace,
    @Nullable Format format,
    int shard,
    int shardCount,
    Role role,
    @Nullable Long attachTo,
    @Nullable List<Group> groups,
    @Nullable List<Buffer> buffers,
    @Nullable List<Layer> layers,
    @Nullable Staging staging) {
  static final int MAX_GROUPS = 16;
  static final int MAX_BUFFERS = 64;
  static final int MAX_LAYERS = 4096;
  private static final int MAX_PARALLEL = 65_536;

  /** What a session is for. */
  public enum Role {
    /** An engine worker's main session. */
    LOAD,
    /** A worker's second session, so that publishes never wait behind queries and restores. */
    SAVE,
    /** A process without buffers: a scheduler. */
    QUERY
  }

  /** The kind of model state in a group. */
  public enum Component {
    ATTENTION_KV,
    MLA,
    RECURRENT,
    CONVOLUTION,
    SWA,
    DRAFT,
    INDEXER
  }

  /** What a restore needs of a group. */
  public enum Rule {
    /** Every page of the tail. */
    PREFIX,
    /** The pages of the last {@code windowTokens}. */
    WINDOW,
    /** The page that ends at the boundary. */
    CHECKPOINT
  }

  /** Where a buffer's memory is. */
  public enum BufferKind {
    /** A sealed memfd. */
    HOST,
    /** Device memory that the Manager opens; of a later version. */
    CUDA_IPC,
    /** Device memory that only the engine touches, behind a {@link Staging} ring. */
    CUDA_STAGED
  }

  /** Everything that decides what the bytes of a block mean. */
  public record Format(
      String modelDigest,
      String implementationDigest,
      String dtype,
      String layout,
      Parallel parallel) {}

  /** How the model is cut into shards. */
  public record Parallel(
      int tensorParallel, int pipelineParallel, int contextParallel, int kvHeads) {}

  /**
   * One kind of state.
   *
   * @param pageTokens tokens in a block
   * @param windowTokens the window, null unless the rule is WINDOW
   * @param replicated whether every shard holds the same bytes
   * @param bytesPerBlock bytes of one shard's slice of a block
   */
  public record Group(
      int groupId,
      Component component,
      int pageTokens,
      Rule rule,
      @Nullable Integer windowTokens,
      boolean replicated,
      int bytesPerBlock) {}

  /** Memory that blocks lie in. */
  public record Buffer(BufferKind kind, long bytes) {}

  /**
   * Slots of device memory that the Manager's copy engine and the engine's kernel both reach.
   *
   * @param deviceUuid the GPU, as {@code nvidia-smi -L} prints it
   * @param handle 128 hexadecimal digits: the allocation's {@code cudaIpcMemHandle_t}
   * @param offset of slot 0 in the allocation, a multiple of 256
   * @param slotBytes 1 MiB to 256 MiB, a multiple of 4,096; slot i begins {@code i * slotBytes}
   *     behind slot 0
   * @param loadSlots the first so many slots are for restores, 1 to 16
   * @param saveSlots the rest, for publishes, 1 to 16
   */
  public record Staging(
      String deviceUuid, String handle, long offset, int slotBytes, int loadSlots, int saveSlots) {

    /** All slots. */
    @JsonIgnore
    public int slots() {
      return loadSlots + saveSlots;
    }
  }

  /**
   * Where one layer of one group lies: segment s of block b is the {@code segmentBytes} bytes from
   * {@code baseOffset + b * blockStride + s * segmentStride} of a buffer.
   */
  public record Layer(
      int groupId,
      int layer,
      int buffer,
      long baseOffset,
      int blockCount,
      long blockStride,
      int segmentCount,
      long segmentStride,
      int segmentBytes) {

    /** Bytes of the layer in a slice. */
    @JsonIgnore
    public long sliceBytes() {
      return (long) segmentCount * segmentBytes;
    }
  }

  /** Copies the lists. */
  public Register {
    groups = groups == null ? null : List.copyOf(groups);
    buffers = buffers == null ? null : List.copyOf(buffers);
    layers = layers == null ? null : List.copyOf(layers);
  }

  /** A registration without staged buffers. */
  public Register(
      String instance,
      String namespace,
      @Nullable Format format,
      int shard,
      int shardCount,
      Role role,
      @Nullable Long attachTo,
      @Nullable List<Group> groups,
      @Nullable List<Buffer> buffers,
      @Nullable List<Layer> layers) {
    this(
        instance,
        namespace,
        format,
        shard,
        shardCount,
        role,
        attachTo,
        groups,
        buffers,
        layers,
        null);
  }

  /** How many descriptors come with it: one for each HOST buffer. */
  @JsonIgnore
  public int descriptors() {
    int count = 0;
    for (Buffer buffer : buffers == null ? List.<Buffer>of() : buffers) {
      count += buffer.kind() == BufferKind.HOST ? 1 : 0;
    }
    return count;
  }

  /** A second session of a worker, for saves. */
  public static Register attached(
      String instance, String namespace, int shard, int shardCount, long attachTo) {
    return new Register(
        instance, namespace, null, shard, shardCount, Role.SAVE, attachTo, null, null, null);
  }

  /** The JSON. */
  public byte[] encode() {
    return StrictJson.write(this);
  }

  /** Reads untrusted JSON. */
  public static Decoded<Register> decode(byte[] json) {
    return JsonFields.decode(json, Unknown.REFUSED, Register::read);
  }

  private static Register read(JsonFields in) {
    Long attachTo = in.optionalInteger("attachTo", 1, JsonFields.MAX_INTEGER);
    boolean alone = attachTo == null;
    return new Register(
        in.name("instance", 128),
        in.name("namespace", 200),
        alone ? in.object("format", Register::format) : null,
        in.smallInteger("shard", 0, RegisterCheck.MAX_SHARDS - 1),
        in.smallInteger("shardCount", 1, RegisterCheck.MAX_SHARDS),
        in.constant("role", Role.class),
        attachTo,
        alone ? in.objects("groups", 1, MAX_GROUPS, Register::group) : null,
        alone ? in.objects("buffers", 0, MAX_BUFFERS, Register::buffer) : null,
        alone ? in.objects("layers", 0, MAX_LAYERS, Register::layer) : null,
        alone && in.has("staging") ? in.object("staging", Register::staging) : null);
  }

  private static Format format(JsonFields in) {
    Parallel parallel = in.object("parallel", Register::parallel);
    return new Format(
        in.name("modelDigest", 128),
        in.name("implementationDigest", 128),
        in.name("dtype", 64),
        in.name("layout", 64),
        parallel == null ? new Parallel(1, 1, 1, 0) : parallel);
  }

  private static Parallel parallel(JsonFields in) {
    return new Parallel(
        in.smallInteger("tensorParallel", 1, MAX_PARALLEL),
        in.smallInteger("pipelineParallel", 1, MAX_PARALLEL),
        in.smallInteger("contextParallel", 1, MAX_PARALLEL),
        in.smallInteger("kvHeads", 0, MAX_PARALLEL));
  }

  private static Group group(JsonFields in) {
    Long window = in.optionalInteger("windowTokens", 1, PayloadLimits.MAX_TOKEN);
    return new Group(
        in.smallInteger("groupId", 0, 65_535),
        in.constant("component", Component.class),
        in.smallInteger("pageTokens", 1, PayloadLimits.MAX_TOKEN),
        in.constant("rule", Rule.class),
        window == null ? null : window.intValue(),
        in.bool("replicated", false),
        in.smallInteger("bytesPerBlock", 1, Integer.MAX_VALUE));
  }

  private static Buffer buffer(JsonFields in) {
    return new Buffer(
        in.constant("kind", BufferKind.class), in.integer("bytes", 1, JsonFields.MAX_INTEGER));
  }

  private static Staging staging(JsonFields in) {
    return new Staging(
        in.name("deviceUuid", 64),
        in.name("handle", 128),
        in.integer("offset", 0, JsonFields.MAX_INTEGER),
        in.smallInteger("slotBytes", 1 << 20, 256 << 20),
        in.smallInteger("loadSlots", 1, 16),
        in.smallInteger("saveSlots", 1, 16));
  }

  private static Layer layer(JsonFields in) {
    return new Layer(
        in.smallInteger("groupId", 0, 65_535),
        in.smallInteger("layer", 0, 4095),
        in.smallInteger("buffer", 0, MAX_BUFFERS - 1),
        in.integer("baseOffset", 0, JsonFields.MAX_INTEGER),
        in.smallInteger("blockCount", 1, Integer.MAX_VALUE),
        in.integer("blockStride", 0, JsonFields.MAX_INTEGER),
        in.smallInteger("segmentCount", 1, 65_536),
        in.integer("segmentStride", 0, JsonFields.MAX_INTEGER),
        in.smallInteger("segmentBytes", 1, Integer.MAX_VALUE));
  }
}
