package io.orbitkv.core;

import io.orbitkv.core.Command.SessionRequest;
import io.orbitkv.core.Reply.Refused;
import io.orbitkv.core.copy.CopyExecutor;
import io.orbitkv.core.copy.CopyTask;
import io.orbitkv.core.copy.EngineBuffers;
import io.orbitkv.core.eviction.EvictionPolicy;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.core.pool.PoolId;
import io.orbitkv.core.remote.Peers;
import io.orbitkv.core.ssd.SsdExtents;
import io.orbitkv.core.ssd.SsdTier;
import io.orbitkv.journal.Journal;
import io.orbitkv.state.Effects;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.HostEvent.RequestRefused;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Keys;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What all decisions share: the fold, the way to add a fact to it, and what this epoch knows beside
 * it (pages of engines, timers, budgets, who waits for which answer). Nothing here is needed to
 * explain the past; that is all in the facts.
 */
final class Host {
  /** Column bytes that one block adds to the facts of a publish beside its key. */
  static final int BLOCK_COLUMN_BYTES = Journal.BLOCK_COLUMN_BYTES;

  private record Answer(ReplySink sink, Reply reply) {}

  private record Closed(long sessionId, SessionEnd reason) {}

  final HostConfig config;
  final HostState state;
  final Clock clock;
  final EvictionPolicy policy;
  final ExtentAllocator extents;
  final MemorySegment pool;
  final CopyExecutor copies;
  final SessionListener listener;

  /** Null on a host without an SSD tier. */
  final @Nullable LiveTier tier;

  /** Null on a host that works alone. */
  final @Nullable LivePeers peers;

  /** What the pool is known by after the daemon's end. */
  final PoolId poolId;

  /** Blocks that are being verified right now; facts will follow. */
  int blocksInLook;

  final Timers timers = new Timers();
  final Budget budget;
  final Map<String, LiveNamespace> namespaces = new LinkedHashMap<>();
  final Map<String, LiveInstance> instances = new LinkedHashMap<>();
  final Long2ObjectHashMap<LiveSession> sessions = new Long2ObjectHashMap<>();
  final Long2ObjectHashMap<LiveLease> leases = new Long2ObjectHashMap<>();
  final Long2ObjectHashMap<LiveTicket> tickets = new Long2ObjectHashMap<>();
  final Long2ObjectHashMap<LivePublish> publishes = new Long2ObjectHashMap<>();
  final Long2ObjectHashMap<LiveRestore> restores = new Long2ObjectHashMap<>();

  /** Sessions that end and have not been closed yet. */
  final Set<LiveSession> ending = new LinkedHashSet<>();

  /** A session or instance is gone, so that a registration that waits may go on. */
  boolean placesFreed;

  /** Bound namespaces without an instance: they are unbound when their last block goes. */
  final Set<LiveNamespace> orphans = new LinkedHashSet<>();

  /** New work is refused because the daemon ends. */
  boolean draining;

  /** Blocks whose bytes are on their way, for the room that their endings need. */
  long blocksInCopy;

  int factsSinceDigest;
  long startedMicros;

  private final FactLog log;
  private final ArrayDeque<Answer> answers = new ArrayDeque<>();
  private final ArrayDeque<Closed> closed = new ArrayDeque<>();
  private final byte[] keyScratch = new byte[Keys.MAX_KEY_BYTES];
  private Effects effects = Effects.NONE;

  Host(
      HostConfig config,
      HostState state,
      FactLog log,
      Clock clock,
      EvictionPolicy policy,
      ExtentAllocator extents,
      MemorySegment pool,
      CopyExecutor copies,
      SessionListener listener,
      @Nullable SsdTier tier,
      PoolId poolId,
      @Nullable Peers peers) {
    this.config = config;
    this.state = state;
    this.log = log;
    this.clock = clock;
    this.policy = policy;
    this.extents = extents;
    this.pool = pool;
    this.copies = copies;
    this.listener = listener;
    this.tier = tier == null ? null : new LiveTier(tier);
    this.poolId = poolId;
    this.peers = peers == null ? null : new LivePeers(peers);
    this.budget = new Budget(config.globalBudgetBytes());
  }

  // ---- facts
  // -------------------------------------------------------------------------------------------------------

  /** Appends a fact and applies it; what it frees is free when this returns. */
  void emit(HostEvent event) {
    long atMicros = Math.max(clock.wallMicros(), state.atMicros());
    long position = log.append(atMicros, event);
    state.apply(new Fact(position, atMicros, event), effects);
    factsSinceDigest++;
  }

  /** From here on the extents that facts free are those of this epoch's pool. */
  void ownExtents() {
    LiveTier live = tier;
    effects =
        live == null
            ? (offset, bytes, generation) -> extents.free(offset, bytes)
            : new Effects() {
              @Override
              public void extentFreed(long offset, int bytes, long generation) {
                if (!live.freeLater(offset, bytes)) {
                  extents.free(offset, bytes);
                }
              }

              @Override
              public void ssdExtentFreed(int file, long offset, int bytes, long generation) {
                live.extents.free(file, offset, bytes);
              }
            };
  }

  /**
   * Whether so many facts can be promised. Everything that is open will need facts to end it, so
   * room for those is asked for as well.
   */
  boolean hasRoom(int facts, long columnBytes) {
    long endings =
        leases.size()
            + tickets.size()
            + 2L * publishes.size()
            + 3L * restores.size()
            + 2L * sessions.size()
            + 2L * instances.size()
            + (tier == null ? 0 : 4L * tier.running.size())
            + (peers == null ? 0 : 3L * peers.fetches.size() + peers.grants.size())
            + (blocksInLook == 0 ? 0 : 3);
    int all = (int) Math.min(Integer.MAX_VALUE, facts + endings);
    return log.hasRoom(all, columnBytes + (blocksInCopy + blocksInLook) * BLOCK_COLUMN_BYTES);
  }

  // ---- answers
  // -----------------------------------------------------------------------------------------------------

  /** Answers once the batch of facts has ended. */
  void reply(ReplySink sink, Reply reply) {
    answers.addLast(new Answer(sink, reply));
  }

  /** Tells the endpoint, behind all answers, that a session is closed. */
  void tellClosed(long sessionId, SessionEnd reason) {
    closed.addLast(new Closed(sessionId, reason));
  }

  /** Ends the batch and sends what was to be answered; returns how many answers. */
  int endBatch() {
    log.endBatch();
    int sent = 0;
    for (Answer answer; (answer = answers.pollFirst()) != null; sent++) {
      answer.sink().reply(answer.reply());
    }
    for (Closed end; (end = closed.pollFirst()) != null; ) {
      listener.sessionClosed(end.sessionId(), end.reason());
    }
    return sent;
  }

  void refuse(SessionRequest command, RefusalCode code, String message) {
    refuse(command, new Refused(code, message));
  }

  /**
   * Refuses a session's request; what is not its own mistake becomes a fact, so that a miss can be
   * explained.
   */
  void refuse(SessionRequest command, Refused refusal) {
    noteRefusal(command, refusal);
    reply(command.replyTo(), refusal);
  }

  void noteRefusal(SessionRequest command, Refused refusal) {
    if (refusal.category() != RefusalCategory.USER
        && refusal.code() != RefusalCode.JOURNAL_FULL
        && state.session(command.sessionId()) != null
        && hasRoom(1, 0)) {
      emit(
          new RequestRefused(
              command.sessionId(),
              command.request(),
              command.operation(),
              refusal.category(),
              refusal.code() + ": " + refusal.message()));
    }
  }

  // ---- who asks
  // ----------------------------------------------------------------------------------------------------

  /** The open session of a request; null after having refused it. */
  @Nullable LiveSession openSession(SessionRequest command) {
    LiveSession session = sessions.get(command.sessionId());
    if (session == null) {
      refuse(command, RefusalCode.SESSION, "session " + command.sessionId() + " is not open");
      return null;
    }
    if (!session.open()) {
      boolean superseded = session.ending == SessionEnd.SUPERSEDED;
      refuse(
          command,
          superseded ? RefusalCode.SESSION_SUPERSEDED : RefusalCode.SESSION,
          "session " + session.id + " is ending: " + session.ending);
      return null;
    }
    return session;
  }

  // ---- blocks
  // ------------------------------------------------------------------------------------------------------

  /** Whether a sealed block's memory would return at once if it were evicted. */
  boolean evictable(int slot) {
    return state.pins(slot) == 0
        && (tier == null || !tier.holds(state.blockId(slot)))
        && (peers == null || !peers.holds(state.blockId(slot)));
  }

  /** Whether blocks can be kept in DRAM for somebody who waits. */
  boolean canHold() {
    return tier != null || peers != null;
  }

  /** The block stays in DRAM for somebody who waits. */
  void hold(long blockId) {
    if (tier != null) {
      tier.hold(blockId);
    } else if (peers != null) {
      peers.hold(blockId);
    }
  }

  void letGo(long blockId) {
    if (tier != null) {
      tier.letGo(blockId);
    } else if (peers != null) {
      peers.letGo(blockId);
    }
  }

  /** The block that leaves DRAM next, out of the policy; -1 if none may. */
  int takeVictim() {
    return policy.takeVictim(this::evictable);
  }

  /** A request used the block. */
  void touched(int slot) {
    policy.touched(slot);
    if (tier != null) {
      tier.policy.touched(slot);
    }
  }

  /** The block leaves for a reason that is no policy's. */
  void leaves(int slot) {
    policy.removed(slot);
    if (tier != null) {
      tier.forget(slot, allocatedBytes(slot));
    }
  }

  /** Whether blocks may outlive the daemon, so that the journal must say how they are cut. */
  boolean outlivesDaemon() {
    return tier != null || poolId.keeps();
  }

  /** What offsets and sizes of the pool's extents are multiples of. */
  int granuleBytes() {
    return tier == null ? ExtentAllocator.GRANULE_BYTES : SsdExtents.ALIGNMENT_BYTES;
  }

  /** Allocated bytes of all slices of a block. */
  long allocatedBytes(int slot) {
    int slices = state.slices(slot);
    long bytes = 0;
    for (int slice = 0; slice < slices; slice++) {
      if (state.reserved(slot, slice)) {
        bytes += state.extentBytes(slot, slice);
      }
    }
    return bytes;
  }

  /** The same bits whenever the key is published again. */
  long keyHash(int slot) {
    int length = state.keyBytes(slot);
    state.copyKey(slot, keyScratch, 0);
    long hash = ((long) state.namespaceId(slot) << 32) ^ state.groupId(slot);
    for (int i = 0; i < length; i++) {
      hash = (hash ^ keyScratch[i]) * 0x100000001B3L;
    }
    hash = (hash ^ (hash >>> 32)) * 0x9E3779B97F4A7C15L;
    return hash ^ (hash >>> 29);
  }

  // ---- copies
  // ------------------------------------------------------------------------------------------------------

  /** Whether a copy of that size can begin now. */
  boolean canCopy(long bytes, @Nullable SharedBuffers buffers) {
    return (bytes <= config.inlineCopyBytes() && buffers != null && buffers.buffers().mapped())
        || copies.inFlight() < config.maxCopiesInFlight();
  }

  /**
   * Begins a copy for which {@link #canCopy} holds.
   *
   * @return whether it has ended already, because it was small
   */
  boolean copy(CopyTask task) {
    EngineBuffers pages = task.buffers();
    if (task.bytes() <= config.inlineCopyBytes() && pages != null && pages.mapped()) {
      task.runHere();
      return true;
    }
    if (!copies.submit(task)) {
      throw new IllegalStateException(
          "the executor refused a copy with " + copies.inFlight() + " in flight");
    }
    return false;
  }

  long deadline(long millis) {
    return clock.monotonicMicros() + millis * 1_000;
  }
}
