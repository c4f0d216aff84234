package io.orbitkv.manager.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.catalog.calls.Endpoint;
import io.orbitkv.catalog.inventory.InventoryReceiver;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.lookup.CandidateIndex;
import io.orbitkv.catalog.lookup.CatalogLookup;
import io.orbitkv.catalog.lookup.LocalLookup;
import io.orbitkv.catalog.membership.MemberRecord;
import io.orbitkv.catalog.membership.RemoteAdmission;
import io.orbitkv.catalog.membership.TransferCarrier;
import io.orbitkv.catalog.peer.CatalogAdmin;
import io.orbitkv.catalog.peer.HandoffOrder;
import io.orbitkv.catalog.peer.HandoffReport;
import io.orbitkv.catalog.peer.PeerClients;
import io.orbitkv.catalog.peer.PeerHandlers;
import io.orbitkv.catalog.peer.PeerLimits;
import io.orbitkv.catalog.peer.PeerSecurity;
import io.orbitkv.catalog.peer.PeerServer;
import io.orbitkv.catalog.peer.PeerStats;
import io.orbitkv.catalog.peer.PeerThreads;
import io.orbitkv.catalog.placement.KnownPlacements;
import io.orbitkv.core.Command;
import io.orbitkv.core.Reply;
import io.orbitkv.core.checksum.Checksum;
import io.orbitkv.core.remote.BlockGrant;
import io.orbitkv.core.remote.GrantRefusal;
import io.orbitkv.core.remote.GrantedRanges;
import io.orbitkv.core.remote.PeerRun;
import io.orbitkv.core.remote.RemoteEvents;
import io.orbitkv.core.remote.RemoteLookup;
import io.orbitkv.core.remote.RemoteRead;
import io.orbitkv.core.remote.RemoteTier;
import io.orbitkv.core.ssd.SliceShape;
import io.orbitkv.state.HostEvent.RemoteFailure;
import io.orbitkv.state.Longs;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.identity.BlockHash;
import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.StateKey;
import io.orbitkv.transfer.tcp.TcpOptions;
import io.orbitkv.transfer.tcp.TcpTransferEngine;
import io.orbitkv.transfer.tcp.TransferToken;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two hosts on loopback with real calls and real reads; the test is both hosts' loops. */
class PeerBlocksTest {
  private static final int LAYER_BYTES = 2048;
  private static final int SLICE_BYTES = 4096;
  private static final int POOL_BYTES = 1 << 20;
  private static final long PATIENCE_NANOS = Duration.ofSeconds(30).toNanos();

  private static final CatalogAdmin NO_ORDERS =
      new CatalogAdmin() {
        @Override
        public CompletionStage<Placements> placements(Set<Integer> catalogShards) {
          throw new IllegalStateException("nobody asks");
        }

        @Override
        public CompletionStage<HandoffReport> handoff(HandoffOrder order) {
          throw new IllegalStateException("nobody asks");
        }
      };

  private final Map<NodeId, MemberRecord> members = new ConcurrentHashMap<>();
  private final List<RemoteRead> failed = new ArrayList<>();
  private final List<RemoteRead> ended = new ArrayList<>();
  private final List<UUID> drained = new ArrayList<>();
  private final RemoteEvents events =
      new RemoteEvents() {
        @Override
        public void found(RemoteLookup lookup) {}

        @Override
        public void failed(RemoteRead read) {
          failed.add(read);
        }

        @Override
        public void ended(RemoteRead read) {
          ended.add(read);
        }

        @Override
        public void drained(UUID grantId, long reads) {
          drained.add(grantId);
        }
      };
  private Host source;
  private Host reader;

  /** One host without a loop. */
  private static final class Host {
    final NodeId node;
    final UUID runtime = UUID.randomUUID();
    final OwnerRun run;
    final MemorySegment pool = Arena.ofAuto().allocate(POOL_BYTES, 4096);
    final TcpTransferEngine transfer;
    final GrantedPool granted;
    final PeerThreads threads = new PeerThreads(1);
    final PeerClients clients;
    final PeerServer server;
    final PeerBlocks blocks;
    boolean fenced;

    /** What the source's loop says of the one block that it has. */
    BlockGrant answer = new BlockGrant.NotGiven(GrantRefusal.UNKNOWN_KEY, "none");

    Host(String name, Map<NodeId, MemberRecord> members) throws IOException {
      InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
      PeerSecurity security =
          new PeerSecurity(Optional.of("a-token-of-this-test"), Optional.empty());
      node = new NodeId(name);
      run = new OwnerRun(node, runtime, 1);
      transfer =
          TcpTransferEngine.start(
              TcpOptions.of(
                  any,
                  runtime,
                  new TransferToken("a-token-of-this-test".getBytes(StandardCharsets.US_ASCII))),
              pool);
      granted = new GrantedPool(transfer.grants(), () -> {});
      PeerStats stats = new PeerStats();
      clients =
          new PeerClients(
              node,
              peer -> Optional.ofNullable(members.get(peer)).map(MemberRecord::peer),
              security,
              PeerLimits.DEFAULT,
              stats,
              threads,
              new Random(1),
              System::nanoTime);
      KnownPlacements catalog = new KnownPlacements(node);
      InventoryReceiver receiver = new InventoryReceiver(8);
      LocalLookup local = new LocalLookup(receiver, catalog, Set::of);
      server =
          PeerServer.start(
              any,
              security,
              PeerLimits.DEFAULT,
              new PeerHandlers(
                  runtime,
                  new PeerGrants(this::admission, this::loop),
                  receiver,
                  local,
                  NO_ORDERS,
                  catalog),
              stats,
              threads);
      blocks =
          new PeerBlocks(
              () -> true,
              () -> Optional.of(run),
              peer -> Optional.ofNullable(members.get(peer)),
              new CatalogLookup(
                  node,
                  local,
                  catalog,
                  clients,
                  new CandidateIndex(16, Duration.ofSeconds(1), System::nanoTime),
                  _ -> true,
                  System::nanoTime),
              clients,
              transfer,
              "tcp",
              Executors.newVirtualThreadPerTaskExecutor(),
              () -> {});
      members.put(node, record(TransferCarrier.TCP));
    }

    MemberRecord record(TransferCarrier carrier) {
      return new MemberRecord(
          node,
          new Endpoint("127.0.0.1", server.port()),
          new Endpoint("127.0.0.1", 1),
          new Endpoint("127.0.0.1", transfer.endpoint().port()),
          carrier,
          runtime,
          1,
          1);
    }

    RemoteAdmission admission() {
      return fenced
          ? new RemoteAdmission.Fenced("a test", Instant.EPOCH)
          : new RemoteAdmission.Open(Instant.EPOCH);
    }

    boolean loop(Command command) {
      switch (command) {
        case Command.AuthorizeGrant(
                PeerRun _,
                UUID ownerRuntime,
                String _,
                List<?> blocks,
                long validMillis,
                var replyTo) ->
            replyTo.reply(authorize(ownerRuntime, blocks.size(), validMillis));
        case Command.ReleaseGrant(PeerRun _, UUID grantId, var replyTo) -> {
          granted.revoke(grantId);
          replyTo.reply(new Reply.GrantReleased(grantId));
        }
        default -> throw new IllegalArgumentException(command.toString());
      }
      return true;
    }

    private Reply authorize(UUID ownerRuntime, int blocks, long validMillis) {
      if (!ownerRuntime.equals(runtime)) {
        return new Reply.GrantRefused(GrantRefusal.WRONG_RUNTIME, "another run");
      }
      List<BlockGrant> answers = new ArrayList<>();
      for (int i = 0; i < blocks; i++) {
        answers.add(answer);
      }
      return new Reply.Granted(
          granted.open(List.of(new GrantedRanges.Range(0, SLICE_BYTES)), validMillis).orElseThrow(),
          validMillis,
          answers);
    }

    void close() {
      clients.close();
      server.close();
      transfer.close();
      threads.close();
    }
  }

  @BeforeEach
  void start() throws IOException {
    source = new Host("source", members);
    reader = new Host("reader", members);
    byte[] bytes = new byte[LAYER_BYTES];
    new Random(7).nextBytes(bytes);
    MemorySegment.copy(bytes, 0, source.pool, ValueLayout.JAVA_BYTE, 0, LAYER_BYTES);
    long sum = Checksum.sum(source.pool, 0, LAYER_BYTES, 0);
    source.pool.set(ValueLayout.JAVA_LONG_UNALIGNED, LAYER_BYTES, sum);
    source.answer =
        new BlockGrant.Given(
            List.of(new BlockGrant.Slice(0, 0, SLICE_BYTES, Checksum.finish(sum, LAYER_BYTES))));
  }

  @AfterEach
  void stop() {
    reader.close();
    source.close();
  }

  private RemoteRead read(OwnerRun owner, long timeoutMillis) {
    return new RemoteRead(
        1,
        RemoteNames.run(owner),
        "format/1",
        List.of(
            new RemoteRead.Block(
                new StateKey(new Namespace("ns"), 0, BlockHash.read(new byte[] {1}, 0, 1)),
                RemoteTier.DRAM,
                3,
                List.of(
                    new RemoteRead.Slice(
                        8192, SLICE_BYTES, SliceShape.of(Longs.of(LAYER_BYTES)))))),
        reader.pool,
        timeoutMillis);
  }

  private RemoteRead awaitEnd(RemoteRead read) throws InterruptedException {
    assertTrue(reader.blocks.read(read));
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (ended.isEmpty()) {
      assertTrue(System.nanoTime() < deadline, "the read ends");
      reader.blocks.poll(events, 16);
      Thread.sleep(2);
    }
    assertEquals(List.of(read), ended, "told once");
    return read;
  }

  private void awaitDrained() throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (drained.isEmpty()) {
      assertTrue(System.nanoTime() < deadline, "the grant comes back");
      source.granted.poll(events, 16);
      Thread.sleep(2);
    }
    assertEquals(0, source.transfer.grants().size());
  }

  @Test
  void shouldReadABlockAndGiveItsGrantBack() throws Exception {
    RemoteRead read = awaitEnd(read(source.run, 20_000));
    assertNull(read.failure(), read.detail());
    assertTrue(read.arrived(0));
    assertEquals(
        -1, source.pool.asSlice(0, SLICE_BYTES).mismatch(reader.pool.asSlice(8192, SLICE_BYTES)));
    awaitDrained();
    assertEquals(read.grant(), drained.getFirst());
    assertTrue(failed.isEmpty());
  }

  @Test
  void shouldNotTakeBytesThatHaveNotTheirSum() throws Exception {
    source.pool.set(
        ValueLayout.JAVA_BYTE, 100, (byte) ~source.pool.get(ValueLayout.JAVA_BYTE, 100));
    RemoteRead read = awaitEnd(read(source.run, 20_000));
    assertEquals(RemoteFailure.CORRUPT, read.failure());
    assertFalse(read.arrived(0));
    awaitDrained();
  }

  @Test
  void shouldTellWhatTheOwnerRefuses() throws Exception {
    source.answer = new BlockGrant.NotGiven(GrantRefusal.WRONG_GENERATION, "it has 4");
    RemoteRead stale = awaitEnd(read(source.run, 20_000));
    assertEquals(RemoteFailure.STALE, stale.failure());
    assertTrue(stale.detail().contains("it has 4"), stale.detail());
    awaitDrained();
    ended.clear();
    RemoteRead another = awaitEnd(read(new OwnerRun(source.node, UUID.randomUUID(), 1), 20_000));
    assertEquals(RemoteFailure.STALE, another.failure(), "another run of the owner");
    ended.clear();
    source.fenced = true;
    RemoteRead fenced = awaitEnd(read(source.run, 20_000));
    assertEquals(RemoteFailure.UNREACHABLE, fenced.failure());
    assertTrue(fenced.detail().contains("fenced"), fenced.detail());
  }

  @Test
  void shouldNotAskAHostThatMovesBlocksOtherwise() throws Exception {
    members.put(source.node, source.record(new TransferCarrier("mooncake", 4096)));
    RemoteRead read = awaitEnd(read(source.run, 20_000));
    assertEquals(RemoteFailure.UNREACHABLE, read.failure());
    assertTrue(read.detail().contains("mooncake"), read.detail());
  }

  @Test
  void shouldEndAReadWhoseOwnerIsGone() throws Exception {
    source.server.close();
    long begun = System.nanoTime();
    RemoteRead read = awaitEnd(read(source.run, 3_000));
    assertFalse(read.arrived(0));
    assertTrue(System.nanoTime() - begun < PATIENCE_NANOS);
    assertTrue(
        List.of(RemoteFailure.UNREACHABLE, RemoteFailure.DEADLINE).contains(read.failure()),
        String.valueOf(read.failure()));
  }
}
