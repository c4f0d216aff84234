package io.orbitkv.journal;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.AbortReason;
import io.orbitkv.state.HostEvent.AdoptionFailure;
import io.orbitkv.state.HostEvent.CleanupReason;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.GrantEnd;
import io.orbitkv.state.HostEvent.GroupAnswer;
import io.orbitkv.state.HostEvent.GroupLease;
import io.orbitkv.state.HostEvent.GroupRead;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostEvent.Operation;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.HostEvent.RemoteFailure;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.HostEvent.SsdEvictionCause;
import io.orbitkv.state.HostEvent.TicketEnd;
import io.orbitkv.state.HostEvent.TierTrouble;
import io.orbitkv.state.Keys;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import io.orbitkv.state.PeerId;
import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.ParallelShape;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.identity.StateComponent;
import io.orbitkv.state.identity.StateFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Facts for tests: one or more of every kind, with small, large, empty and odd values. */
final class Samples {
  static final long AT_MICROS = 1_790_000_000_000_000L;
  static final String REQUEST = "0b5a9d52-2f0a-4f0e-9a55-3d1f6d2c7b11";

  private Samples() {}

  static StateFormat format() {
    return new StateFormat(
        "sha256:0123456789abcdef",
        "vllm-0.11",
        "bf16",
        "NHD",
        new ParallelShape(2, 1, 1, 8),
        List.of(
            new GroupSpec(
                0, StateComponent.ATTENTION_KV, 64, new RecoveryRule.Prefix(), false, 1 << 20),
            new GroupSpec(1, StateComponent.SWA, 64, new RecoveryRule.Window(100), true, 1L << 33),
            new GroupSpec(
                7, StateComponent.RECURRENT, 64, new RecoveryRule.Checkpoint(), false, 4096)));
  }

  static Keys keys(int count, int keyBytes, long seed) {
    byte[] packed = new byte[count * keyBytes];
    new Random(seed).nextBytes(packed);
    return Keys.ofPacked(keyBytes, packed);
  }

  /** A lease of 2,048 blocks that were published together, for a request with a typical name. */
  static HostEvent.LeaseGranted longLease() {
    return new HostEvent.LeaseGranted(
        1_234_567,
        4_321,
        REQUEST,
        0,
        AT_MICROS + 30_000_000,
        List.of(new GroupLease(0, 0, LongRanges.of(987_654_321, 2048))),
        List.of(new GroupAnswer(0, 2048, 2048, Keys.EMPTY, 0)));
  }

  static HostEvent.SlicesReserved publish(long id, int blocks, int keyBytes) {
    long[] offsets = new long[blocks];
    long[] generations = new long[blocks];
    for (int i = 0; i < blocks; i++) {
      offsets[i] = i * 65_536L + (i % 7 == 0 ? 1L << 40 : 0);
      generations[i] = 3L + i % 3;
    }
    return new HostEvent.SlicesReserved(
        id,
        17,
        REQUEST,
        1,
        0,
        LongRanges.of(id * 10_000, blocks),
        id * 10_000,
        keys(blocks, keyBytes, id),
        Longs.of(offsets),
        Longs.of(generations),
        65_536);
  }

  static List<HostEvent> all() {
    List<HostEvent> all = new ArrayList<>();
    all.add(new HostEvent.EpochStarted(3, "0.1.0", 4L << 30, "{\"eviction\":\"lru\"}"));
    all.add(new HostEvent.EpochEnded(Long.MAX_VALUE, "SIGTERM"));
    all.add(new HostEvent.NamespaceBound(1, "llama-3/größe", format(), 2));
    all.add(new HostEvent.NamespaceUnbound(Integer.MAX_VALUE));
    all.add(new HostEvent.InstanceRegistered(1, "engine-0", 1));
    all.add(new HostEvent.SessionOpened(300, 1, 15, SessionRole.LOAD, 4_194_304, -2, 299));
    all.add(new HostEvent.SessionOpened(0, 0, 0, SessionRole.SAVE, 0, 0, 0));
    all.add(publish(5, 3, 32));
    all.add(publish(6, 1, 1));
    all.add(publish(7, 2048, 64));
    all.add(
        new HostEvent.SlicesReserved(
            1,
            2,
            "",
            0,
            0,
            new LongRanges.Builder().addRun(900, 2).add(5).addRun(1L << 60, 7).build(),
            0,
            Keys.EMPTY,
            Longs.of(-1, Long.MIN_VALUE, Long.MAX_VALUE),
            Longs.EMPTY,
            0));
    all.add(new HostEvent.SlicesPublished(5, Longs.of(1, -1, Long.MIN_VALUE, 0)));
    all.add(new HostEvent.SlicesPublished(0, Longs.EMPTY));
    all.add(
        new HostEvent.BlocksEvicted(
            new LongRanges.Builder().addRun(10, 5).addRun(3, 2).build(),
            EvictionCause.CAPACITY,
            17,
            REQUEST));
    all.add(longLease());
    all.add(
        new HostEvent.LeaseGranted(
            2,
            2,
            "r",
            9,
            AT_MICROS - 1,
            List.of(
                new GroupLease(0, 128, LongRanges.of(1, 6)),
                new GroupLease(1, 384, LongRanges.EMPTY)),
            List.of(
                new GroupAnswer(0, 10, 6, keys(4, 16, 1), 12),
                new GroupAnswer(1, 0, 3, Keys.EMPTY, 0))));
    all.add(new HostEvent.TicketOpened(9, 2, REQUEST, LongRanges.of(77, 1)));
    all.add(new HostEvent.RestoreStarted(4, 2, 2, 2048, 1L << 40));
    all.add(new HostEvent.QueryMissed(2, "naïve", List.of()));
    all.add(
        new HostEvent.QueryMissed(
            2, REQUEST, List.of(new GroupAnswer(3, 2, 0, keys(2, 64, 2), 1))));
    all.add(new HostEvent.RegistrationRefused("e", "ns", "dtype", "bf16 is not fp8"));
    all.add(new HostEvent.VerifyFailed(8, 1, 4, 0x1234_5678_9abc_def0L, -1));
    all.add(new HostEvent.DigestRecorded(-42, 1_000_000, 3));
    addTier(all);
    for (SessionRole role : SessionRole.values()) {
      all.add(new HostEvent.SessionOpened(301, 1, 0, role, 1, 1, 0));
    }
    for (SessionEnd reason : SessionEnd.values()) {
      all.add(new HostEvent.SessionClosed(300, reason));
    }
    for (CleanupReason reason : CleanupReason.values()) {
      all.add(new HostEvent.InstanceCleaned(1, reason));
    }
    for (AbortReason reason : AbortReason.values()) {
      all.add(new HostEvent.PublishAborted(5, reason));
    }
    for (EvictionCause cause : EvictionCause.values()) {
      all.add(new HostEvent.BlocksEvicted(LongRanges.of(1, 1), cause, 0, ""));
    }
    for (LeaseEnd reason : LeaseEnd.values()) {
      all.add(new HostEvent.LeaseReleased(2, reason));
    }
    for (TicketEnd outcome : TicketEnd.values()) {
      all.add(new HostEvent.TicketClosed(9, outcome, 0));
    }
    for (RestoreOutcome outcome : RestoreOutcome.values()) {
      all.add(new HostEvent.RestoreFinished(4, outcome, 1 << 20, 1500));
    }
    for (Operation operation : Operation.values()) {
      for (RefusalCategory category : RefusalCategory.values()) {
        all.add(new HostEvent.RequestRefused(2, REQUEST, operation, category, "why"));
      }
    }
    return all;
  }

  private static void addTier(List<HostEvent> all) {
    LongRanges blocks = new LongRanges.Builder().addRun(10, 2).add(3).build();
    all.add(new HostEvent.SsdTierOpened(-1, 0x1234_5678_9abc_def0L, Longs.of(1L << 40, 4096)));
    all.add(new HostEvent.LayersBound(1, 7, 3, Longs.of(0, 1, 31), Longs.of(4096, 4096, 1 << 20)));
    all.add(
        new HostEvent.SsdWritten(
            blocks, Longs.of(0, 1, 0), Longs.of(4096, 0, 1L << 41), Longs.of(7, 8, 9)));
    all.add(
        new HostEvent.BlocksLoading(blocks, Longs.of(0, 8192, 4096), Longs.of(3, 4, 5), 9, 2, ""));
    all.add(new HostEvent.BlocksLoading(blocks, Longs.EMPTY, Longs.EMPTY, 0, 0, REQUEST));
    all.add(new HostEvent.BlocksLoaded(blocks, 1L << 33, 1500));
    for (SsdEvictionCause cause : SsdEvictionCause.values()) {
      all.add(new HostEvent.SsdEvicted(blocks, cause, 17, REQUEST));
    }
    for (EvictionCause cause : EvictionCause.values()) {
      all.add(new HostEvent.BlocksDemoted(blocks, cause, 17, REQUEST));
    }
    for (LoadFailure reason : LoadFailure.values()) {
      all.add(new HostEvent.LoadFailed(blocks, reason, "errno 5"));
    }
    for (HostEvent.SsdSkip reason : HostEvent.SsdSkip.values()) {
      all.add(new HostEvent.SsdSkipped(blocks, reason));
    }
    for (TierTrouble trouble : TierTrouble.values()) {
      all.add(new HostEvent.TierDegraded(trouble, "no space left on device"));
      all.add(new HostEvent.TierRecovered(trouble));
    }
    all.add(new HostEvent.PoolOpened(0x1234_5678_9abc_def0L, -1));
    all.add(new HostEvent.PoolOpened(0, 0));
    all.add(new HostEvent.BlocksKept(blocks));
    all.add(new HostEvent.BlocksAdopted(blocks, 1L << 33, 1500));
    for (AdoptionFailure reason : AdoptionFailure.values()) {
      all.add(new HostEvent.BlocksNotAdopted(blocks, reason, "block 10 slice 1"));
    }
    addPeers(all, blocks);
  }

  private static void addPeers(List<HostEvent> all, LongRanges blocks) {
    PeerId peer = new PeerId("host-b", -1, 0x1234_5678_9abc_def0L);
    all.add(new HostEvent.GrantOpened(7, -2, 9, peer, blocks, 1L << 33, AT_MICROS + 30_000_000));
    all.add(new HostEvent.GrantOpened(8, 0, 0, new PeerId("", 0, 0), blocks, 0, AT_MICROS - 5));
    for (GrantEnd reason : GrantEnd.values()) {
      all.add(new HostEvent.GrantClosed(7, reason, 3));
    }
    all.add(
        new HostEvent.RemoteReadBegun(
            5,
            peer,
            1,
            List.of(
                new GroupRead(0, 40, keys(2, 32, 1), Longs.of(4096, 8192)),
                new GroupRead(7, 42, keys(1, 1, 2), Longs.of(4096))),
            Longs.of(0, 4096, 16384, 20480, 1L << 40),
            Longs.of(1, 2, 3, 9, 4),
            9,
            2,
            REQUEST));
    all.add(
        new HostEvent.RemoteReadBegun(6, peer, 0, List.of(), Longs.EMPTY, Longs.EMPTY, 0, 0, ""));
    for (RemoteFailure reason : RemoteFailure.values()) {
      all.add(new HostEvent.RemoteReadQuarantined(5, reason, "no answer"));
      all.add(
          new HostEvent.RemoteReadEnded(
              5, blocks, Longs.of(-1, 5, 1L << 62), reason, "why", -3, 4, 1L << 33, 1500));
    }
    all.add(
        new HostEvent.RemoteReadEnded(
            5, LongRanges.EMPTY, Longs.EMPTY, RemoteFailure.NONE, "", 0, 0, 0, 0));
    all.add(new HostEvent.PlacementSeen(0, 1, List.of("a")));
    all.add(new HostEvent.PlacementSeen(15, 1L << 40, List.of("a", "b", "host-c")));
  }
}
