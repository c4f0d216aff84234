package io.orbitkv.manager.replay;

import io.orbitkv.state.HostEvent.AbortReason;
import io.orbitkv.state.HostEvent.BlocksEvicted;
import io.orbitkv.state.HostEvent.VerifyFailed;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The life of one block, from its reservation to its end, as its facts tell it. */
final class BlockLife {

  /** Where something stands in the journal. */
  record Mark(long position, long atMicros) {}

  /** One shard's slice. */
  static final class Slice {
    final long publishId;
    final long sessionId;
    final String request;
    final Mark reserved;
    @Nullable Mark published;
    @Nullable Mark aborted;
    @Nullable AbortReason abortReason;

    Slice(long publishId, long sessionId, String request, Mark reserved) {
      this.publishId = publishId;
      this.sessionId = sessionId;
      this.request = request;
      this.reserved = reserved;
    }
  }

  final long blockId;
  final int namespaceId;
  final int groupId;
  final String keyHex;
  final int slicesNeeded;
  final Mark begun;

  /** It was there in the checkpoint that the journal begins with; who published it is not known. */
  final boolean fromCheckpoint;

  /** The last attempt of each slice; key 0 alone for a replicated group. */
  final TreeMap<Integer, Slice> slices = new TreeMap<>();

  final List<VerifyFailed> verifyFailures = new ArrayList<>();
  final SsdLife ssd = new SsdLife();
  @Nullable Mark sealed;

  /** When a restarted daemon kept it to be verified, and when it was; the last time of several. */
  @Nullable Mark kept;

  @Nullable Mark verified;

  /** Whether it ended because its bytes in the pool were not what was published. */
  boolean damagedInPool;

  @Nullable Mark ended;
  @Nullable BlocksEvicted eviction;
  long leases;
  @Nullable Mark lastLease;
  String lastLeaseRequest = "";

  BlockLife(
      long blockId,
      int namespaceId,
      int groupId,
      String keyHex,
      int slicesNeeded,
      Mark begun,
      boolean fromCheckpoint) {
    this.blockId = blockId;
    this.namespaceId = namespaceId;
    this.groupId = groupId;
    this.keyHex = keyHex;
    this.slicesNeeded = slicesNeeded;
    this.begun = begun;
    this.fromCheckpoint = fromCheckpoint;
  }

  boolean complete() {
    for (int slice = 0; slice < slicesNeeded; slice++) {
      Slice there = slices.get(slice);
      if (there == null || there.published == null) {
        return false;
      }
    }
    return true;
  }

  boolean withoutSlice() {
    return slices.values().stream().allMatch(slice -> slice.aborted != null);
  }

  boolean begunBefore(long position) {
    return begun.position < position;
  }

  boolean endedBefore(long position) {
    return ended != null && ended.position < position;
  }

  /** Whether nobody had verified at a position what a restart had kept. */
  boolean unverifiedAt(long position) {
    return kept != null
        && kept.position < position
        && (verified == null || verified.position < kept.position || verified.position > position);
  }

  boolean sealedBefore(long position) {
    return sealed != null && sealed.position < position;
  }
}
