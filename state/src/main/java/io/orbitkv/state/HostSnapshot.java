package io.orbitkv.state;

import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostEvent.NamespaceBound;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.ParallelShape;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.identity.StateComponent;
import io.orbitkv.state.identity.StateFormat;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The checkpoint of a {@link HostState}, in the frames of {@link FrameWriter}.
 *
 * <pre>
 * "OKHS" varint version
 * head        position fixed(atMicros) epoch running(u8) poolBytes, nine next ids
 * totals      sections, each: length, values
 * namespaces  count, each: id text(name) shardCount position format
 * instances   count, each: id text(name) namespaceId position fixed(atMicros)
 * sessions    count, each: id instanceId shard role(text) pid uid position fixed(atMicros)
 *             supersededBy
 * parts       version 4: u8, the version that the host would write if it worked alone
 * tier        from version 2 on, in version 4 if there is one, see TierSnapshot
 * pool        version 3, in version 4 if there is one: totals as in the head, fixed(idHigh)
 *             fixed(idLow)
 * blocks      count, each: id less the one before, namespaceId, groupId, keyBytes(u8), key,
 *             position, state(u8), pins, then each slice:
 *             state(u8) and unless empty: offset generation bytes fixed(checksum)
 *             if there is a tier: its SSD copy, see TierSnapshot
 *             if there is a pool: position of its last lease, 0 if none is known
 * publishes, leases, tickets, restores: count, each: the fields of its record
 * peers       version 4: totals as in the head, next grant and read id, then grants and remote
 *             reads: count, each: the fields of its record
 * fixed(digest)
 * </pre>
 *
 * where a number without a remark is a varint and lists are by ascending id. The digest is that of
 * the state that was written; a state that is read back must have it. A host that never had an SSD
 * tier writes version 1, one that had writes version 2, one whose pool outlived a daemon version 3,
 * one that ever worked with others version 4.
 */
final class HostSnapshot {
  private static final int MAGIC = 0x4F4B4853;
  private static final int WITHOUT_TIER = 1;
  private static final int WITH_TIER = 2;
  private static final int WITH_POOL = 3;
  private static final int WITH_PEERS = 4;

  /** Of a count that is damaged no more memory is taken than for so many blocks. */
  private static final int MOST_EXPECTED = 1 << 24;

  private HostSnapshot() {}

  static void write(HostState state, DataOutput out) throws IOException {
    FrameWriter to = new FrameWriter(out);
    for (int shift = 24; shift >= 0; shift -= 8) {
      to.octet(MAGIC >>> shift);
    }
    int parts = !state.tiers.used ? WITHOUT_TIER : state.tiers.pool.used ? WITH_POOL : WITH_TIER;
    to.varint(state.remotes.used ? WITH_PEERS : parts);
    writeHead(state, to);
    writeRegistry(state, to);
    if (state.remotes.used) {
      to.octet(parts);
    }
    if (parts >= WITH_TIER) {
      TierSnapshot.writeTier(state, to);
    }
    if (parts >= WITH_POOL) {
      state.tiers.pool.writeTo(to);
    }
    writeBlocks(state.blocks, parts, to);
    writeOpen(state, to);
    if (state.remotes.used) {
      state.remotes.writeTo(to);
    }
    to.fixed(state.digest());
    to.end();
  }

  static HostState read(DataInput in) throws IOException {
    FrameReader from = new FrameReader(in);
    int magic = 0;
    for (int i = 0; i < 4; i++) {
      magic = (magic << 8) | from.octet();
    }
    if (magic != MAGIC) {
      throw new DamagedSnapshot("it is no checkpoint of a host state");
    }
    int version = from.varint32();
    if (version < WITHOUT_TIER || version > WITH_PEERS) {
      throw new DamagedSnapshot(
          "it has version %d; this build reads versions %d to %d"
              .formatted(version, WITHOUT_TIER, WITH_PEERS));
    }
    HostState state = new HostState();
    try {
      readHead(state, from);
      readRegistry(state, from);
      int parts = version < WITH_PEERS ? version : from.octet();
      if (parts < WITHOUT_TIER || parts > WITH_POOL) {
        throw new DamagedSnapshot("it says to have parts " + parts);
      }
      if (parts >= WITH_TIER) {
        TierSnapshot.readTier(state, from);
      }
      if (parts >= WITH_POOL) {
        state.tiers.pool.readFrom(from);
      }
      readBlocks(state, parts, from);
      readOpen(state, from);
      if (version >= WITH_PEERS) {
        state.remotes.readFrom(from);
      }
    } catch (IllegalArgumentException | IllegalStateException | IndexOutOfBoundsException e) {
      throw new DamagedSnapshot("its content contradicts itself: " + e.getMessage(), e);
    }
    long digest = from.fixed();
    from.end();
    if (digest != state.digest()) {
      throw new DamagedSnapshot(
          "the state read has digest %016x, the one written had %016x"
              .formatted(state.digest(), digest));
    }
    return state;
  }

  // ---- head ------------------------------------------------------------------------------------

  private static void writeHead(HostState state, FrameWriter to) throws IOException {
    to.varint(state.position);
    to.fixed(state.atMicros);
    to.varint(state.epoch);
    to.octet(state.running ? 1 : 0);
    to.varint(state.poolBytes);
    to.varint(state.registry.nextNamespaceId);
    to.varint(state.registry.nextInstanceId);
    to.varint(state.registry.nextSessionId);
    to.varint(state.publishes.nextPublishId);
    to.varint(state.publishes.nextBlockId);
    to.varint(state.publishes.nextExtentGeneration);
    to.varint(state.reads.nextLeaseId);
    to.varint(state.reads.nextTicketId);
    to.varint(state.reads.nextRestoreId);
    writeSections(state.totals.sections(), to);
  }

  static void writeSections(List<long[]> sections, FrameWriter to) throws IOException {
    to.varint(sections.size());
    for (long[] section : sections) {
      to.varint(section.length);
      for (long value : section) {
        to.varint(value);
      }
    }
  }

  private static void readHead(HostState state, FrameReader from) throws IOException {
    state.position = from.varint();
    state.atMicros = from.fixed();
    state.epoch = from.varint();
    state.running = from.octet() != 0;
    state.poolBytes = from.varint();
    state.registry.nextNamespaceId = from.varint32();
    state.registry.nextInstanceId = from.varint();
    state.registry.nextSessionId = from.varint();
    state.publishes.nextPublishId = from.varint();
    state.publishes.nextBlockId = from.varint();
    state.publishes.nextExtentGeneration = from.varint();
    state.reads.nextLeaseId = from.varint();
    state.reads.nextTicketId = from.varint();
    state.reads.nextRestoreId = from.varint();
    readSections(state.totals.sections(), from);
  }

  static void readSections(List<long[]> sections, FrameReader from) throws IOException {
    if (from.varint32() != sections.size()) {
      throw new DamagedSnapshot("it has another set of totals than this build");
    }
    for (long[] section : sections) {
      if (from.varint32() != section.length) {
        throw new DamagedSnapshot("it has another set of totals than this build");
      }
      for (int i = 0; i < section.length; i++) {
        section[i] = from.varint();
      }
    }
  }

  // ---- registry --------------------------------------------------------------------------------

  private static void writeRegistry(HostState state, FrameWriter to) throws IOException {
    List<BoundNamespace> namespaces = state.namespaces();
    to.varint(namespaces.size());
    for (BoundNamespace namespace : namespaces) {
      to.varint(namespace.id());
      to.text(namespace.name());
      to.varint(namespace.shardCount());
      to.varint(namespace.position());
      writeFormat(namespace.format(), to);
    }
    List<KnownInstance> instances = state.instances();
    to.varint(instances.size());
    for (KnownInstance instance : instances) {
      to.varint(instance.id());
      to.text(instance.name());
      to.varint(instance.namespaceId());
      to.varint(instance.position());
      to.fixed(instance.atMicros());
    }
    List<OpenSession> sessions = state.sessions();
    to.varint(sessions.size());
    for (OpenSession session : sessions) {
      to.varint(session.id());
      to.varint(session.instance().id());
      to.varint(session.shard());
      to.text(session.role().name());
      to.varint(session.pid() & 0xFFFFFFFFL);
      to.varint(session.uid() & 0xFFFFFFFFL);
      to.varint(session.position());
      to.fixed(session.atMicros());
      to.varint(session.supersededBy());
    }
  }

  private static void readRegistry(HostState state, FrameReader from) throws IOException {
    Registry registry = state.registry;
    for (int left = from.varint32(); left > 0; left--) {
      int id = from.varint32();
      String name = from.text();
      int shardCount = from.varint32();
      long position = from.varint();
      registry.add(new NamespaceBound(id, name, readFormat(from), shardCount), position);
    }
    for (int left = from.varint32(); left > 0; left--) {
      long id = from.varint();
      String name = from.text();
      int namespaceId = from.varint32();
      long position = from.varint();
      registry.add(
          state.position, new KnownInstance(id, name, namespaceId, position, from.fixed()));
    }
    for (int left = from.varint32(); left > 0; left--) {
      long id = from.varint();
      KnownInstance instance = HostInvariants.instance(state.position, registry, from.varint());
      int shard = from.varint32();
      SessionRole role = SessionRole.valueOf(from.text());
      int pid = (int) from.varint();
      int uid = (int) from.varint();
      long position = from.varint();
      OpenSession session =
          new OpenSession(id, instance, shard, role, pid, uid, position, from.fixed());
      session.supersededBy = from.varint();
      registry.add(session);
    }
  }

  private static void writeFormat(StateFormat format, FrameWriter to) throws IOException {
    to.text(format.modelDigest());
    to.text(format.implementationDigest());
    to.text(format.dtype());
    to.text(format.layout());
    to.varint(format.parallel().tensorParallel());
    to.varint(format.parallel().pipelineParallel());
    to.varint(format.parallel().contextParallel());
    to.varint(format.parallel().kvHeads());
    to.varint(format.groups().size());
    for (GroupSpec group : format.groups()) {
      to.varint(group.groupId());
      to.text(group.component().name());
      to.varint(group.pageTokens());
      switch (group.rule()) {
        case RecoveryRule.Prefix _ -> to.octet(0);
        case RecoveryRule.Window(int tokens) -> {
          to.octet(1);
          to.varint(tokens);
        }
        case RecoveryRule.Checkpoint _ -> to.octet(2);
      }
      to.octet(group.replicated() ? 1 : 0);
      to.varint(group.bytesPerBlock());
    }
  }

  private static StateFormat readFormat(FrameReader from) throws IOException {
    String modelDigest = from.text();
    String implementationDigest = from.text();
    String dtype = from.text();
    String layout = from.text();
    ParallelShape parallel =
        new ParallelShape(from.varint32(), from.varint32(), from.varint32(), from.varint32());
    List<GroupSpec> groups = new ArrayList<>();
    for (int left = from.varint32(); left > 0; left--) {
      int groupId = from.varint32();
      StateComponent component = StateComponent.valueOf(from.text());
      int pageTokens = from.varint32();
      int kind = from.octet();
      RecoveryRule rule =
          switch (kind) {
            case 0 -> new RecoveryRule.Prefix();
            case 1 -> new RecoveryRule.Window(from.varint32());
            case 2 -> new RecoveryRule.Checkpoint();
            default -> throw new DamagedSnapshot("recovery rule " + kind + " is unknown");
          };
      boolean replicated = from.octet() != 0;
      groups.add(new GroupSpec(groupId, component, pageTokens, rule, replicated, from.varint()));
    }
    return new StateFormat(modelDigest, implementationDigest, dtype, layout, parallel, groups);
  }

  // ---- blocks ----------------------------------------------------------------------------------

  private static void writeBlocks(BlockTable blocks, int version, FrameWriter to)
      throws IOException {
    byte[] key = new byte[Keys.MAX_KEY_BYTES];
    int[] slots = blocks.slotsInOrder();
    to.varint(slots.length);
    long before = 0;
    for (int slot : slots) {
      long id = blocks.blockId(slot);
      GroupRow group = blocks.group(slot);
      to.varint(id - before);
      to.varint(group.namespaceId);
      to.varint(group.groupId);
      to.octet(blocks.keyBytes(slot));
      blocks.copyKey(slot, key, 0);
      to.bytes(key, 0, blocks.keyBytes(slot));
      to.varint(blocks.reservedAt(slot));
      to.octet(blocks.state(slot));
      to.varint(blocks.pins(slot));
      for (int slice = 0; slice < group.slices; slice++) {
        to.octet(blocks.sliceState(slot, slice));
        if (blocks.sliceState(slot, slice) != BlockChunk.SLICE_EMPTY) {
          to.varint(blocks.offset(slot, slice));
          to.varint(blocks.generation(slot, slice));
          to.varint(blocks.extentBytes(slot, slice));
          to.fixed(blocks.checksum(slot, slice));
        }
      }
      if (version >= WITH_TIER) {
        TierSnapshot.writeCopy(blocks, slot, to);
      }
      if (version >= WITH_POOL) {
        to.varint(blocks.leasedAt(slot));
      }
      before = id;
    }
  }

  private static void readBlocks(HostState state, int version, FrameReader from)
      throws IOException {
    BlockTable blocks = state.blocks;
    byte[] key = new byte[Keys.MAX_KEY_BYTES];
    int count = from.varint32();
    blocks.expect(Math.min(count, MOST_EXPECTED));
    long id = 0;
    GroupRow group = null;
    for (int left = count; left > 0; left--) {
      id += from.varint();
      int namespaceId = from.varint32();
      int groupId = from.varint32();
      if (group == null || group.namespaceId != namespaceId || group.groupId != groupId) {
        group = HostInvariants.group(state.position, state.registry, namespaceId, groupId);
      }
      readBlock(blocks, version, group, id, key, from);
    }
    blocks.indexCreated();
  }

  /** A method of its own, because the JVM is sooner done with one than with the loop around it. */
  private static void readBlock(
      BlockTable blocks, int version, GroupRow group, long id, byte[] key, FrameReader from)
      throws IOException {
    int keyBytes = from.octet();
    from.bytes(key, keyBytes);
    int slot = blocks.createUnindexed(group, id, key, 0, keyBytes, from.varint());
    byte blockState = (byte) from.octet();
    for (int pins = from.varint32(); pins > 0; pins--) {
      blocks.pin(slot);
    }
    for (int slice = 0; slice < group.slices; slice++) {
      int sliceState = from.octet();
      if (sliceState != BlockChunk.SLICE_EMPTY) {
        blocks.reserveSlice(slot, slice, from.varint(), from.varint(), from.varint32());
        long checksum = from.fixed();
        if (sliceState == BlockChunk.SLICE_PUBLISHED) {
          blocks.publishSlice(slot, slice, checksum);
        } else if (sliceState == BlockChunk.SLICE_LOADING) {
          blocks.becomeLoading(slot, slice, checksum);
        }
      }
    }
    if (version >= WITH_TIER) {
      TierSnapshot.readCopy(blocks, slot, from);
    }
    long leasedAt = version >= WITH_POOL ? from.varint() : 0;
    if (leasedAt > 0) {
      blocks.leased(slot, 1, leasedAt);
    }
    switch (blockState) {
      case BlockChunk.RESERVED -> {}
      case BlockChunk.SEALED -> blocks.seal(slot);
      case BlockChunk.DEMOTED -> blocks.demoted(slot);
      case BlockChunk.LOADING -> blocks.loading(slot);
      case BlockChunk.UNVERIFIED -> blocks.unverified(slot);
      case BlockChunk.EVICTED -> {
        blocks.indexCreated();
        blocks.evict(slot, 1, Effects.NONE);
      }
      default -> throw new DamagedSnapshot("block " + id + " has state " + blockState);
    }
  }

  // ---- what is open ----------------------------------------------------------------------------

  private static void writeOpen(HostState state, FrameWriter to) throws IOException {
    to.varint(state.openPublishes());
    for (OpenPublish publish : state.publishes()) {
      to.varint(publish.id());
      to.varint(publish.sessionId());
      to.text(publish.request());
      to.varint(publish.namespaceId());
      to.varint(publish.groupId());
      to.varint(publish.shard());
      to.ranges(publish.blocks());
      to.varint(publish.extentBytes());
      to.varint(publish.position());
      to.fixed(publish.atMicros());
    }
    to.varint(state.openLeases());
    for (OpenLease lease : state.leases()) {
      to.varint(lease.id());
      to.varint(lease.sessionId());
      to.text(lease.request());
      to.varint(lease.ticketId());
      to.fixed(lease.expiresAtMicros());
      writeHeld(lease.held(), to);
      to.varint(lease.position());
      to.fixed(lease.atMicros());
    }
    to.varint(state.openTickets());
    for (OpenTicket ticket : state.tickets()) {
      to.varint(ticket.id());
      to.varint(ticket.sessionId());
      to.text(ticket.request());
      to.ranges(ticket.awaited());
      to.varint(ticket.position());
      to.fixed(ticket.atMicros());
    }
    to.varint(state.openRestores());
    for (OpenRestore restore : state.restores()) {
      to.varint(restore.id());
      to.varint(restore.sessionId());
      to.varint(restore.leaseId());
      to.varint(restore.blocks());
      to.varint(restore.bytes());
      writeHeld(restore.held(), to);
      to.varint(restore.position());
      to.fixed(restore.atMicros());
    }
  }

  private static void readOpen(HostState state, FrameReader from) throws IOException {
    for (int left = from.varint32(); left > 0; left--) {
      OpenPublish publish =
          new OpenPublish(
              from.varint(),
              from.varint(),
              from.text(),
              from.varint32(),
              from.varint32(),
              from.varint32(),
              from.ranges(),
              from.varint32(),
              from.varint(),
              from.fixed());
      state.publishes.add(session(state, publish.sessionId()), publish);
    }
    for (int left = from.varint32(); left > 0; left--) {
      OpenLease lease =
          new OpenLease(
              from.varint(),
              from.varint(),
              from.text(),
              from.varint(),
              from.fixed(),
              readHeld(from),
              from.varint(),
              from.fixed());
      state.reads.add(session(state, lease.sessionId()), lease);
    }
    for (int left = from.varint32(); left > 0; left--) {
      OpenTicket ticket =
          new OpenTicket(
              from.varint(),
              from.varint(),
              from.text(),
              from.ranges(),
              from.varint(),
              from.fixed());
      state.reads.add(session(state, ticket.sessionId()), ticket);
    }
    for (int left = from.varint32(); left > 0; left--) {
      OpenRestore restore =
          new OpenRestore(
              from.varint(),
              from.varint(),
              from.varint(),
              from.varint32(),
              from.varint(),
              readHeld(from),
              from.varint(),
              from.fixed());
      state.reads.add(session(state, restore.sessionId()), restore);
    }
  }

  private static OpenSession session(HostState state, long sessionId) {
    return HostInvariants.session(state.position, state.registry, sessionId);
  }

  private static void writeHeld(List<GroupLease> held, FrameWriter to) throws IOException {
    to.varint(held.size());
    for (GroupLease group : held) {
      to.varint(group.groupId());
      to.varint(group.startToken());
      to.ranges(group.blocks());
    }
  }

  private static List<GroupLease> readHeld(FrameReader from) throws IOException {
    List<GroupLease> held = new ArrayList<>();
    for (int left = from.varint32(); left > 0; left--) {
      held.add(new GroupLease(from.varint32(), from.varint32(), from.ranges()));
    }
    return List.copyOf(held);
  }
}
