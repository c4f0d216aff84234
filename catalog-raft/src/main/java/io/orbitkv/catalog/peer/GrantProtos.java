package io.orbitkv.catalog.peer;

import com.google.protobuf.ByteString;
import io.orbitkv.catalog.inventory.Tier;
import io.orbitkv.catalog.peer.GrantAnswer.BlockOutcome;
import io.orbitkv.catalog.peer.GrantAnswer.SliceRange;
import io.orbitkv.catalog.peer.proto.AuthorizeRequest;
import io.orbitkv.catalog.peer.proto.AuthorizeResponse;
import io.orbitkv.catalog.peer.proto.BlockRanges;
import io.orbitkv.catalog.peer.proto.Granted;
import io.orbitkv.catalog.peer.proto.ReleaseRequest;
import io.orbitkv.catalog.peer.proto.WantedBlock;
import io.orbitkv.state.identity.BlockHash;
import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.StateKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Between messages of grants and what they mean; see {@link Protos}. */
final class GrantProtos {
  private GrantProtos() {}

  static AuthorizeRequest request(GrantRequest request) {
    AuthorizeRequest.Builder builder =
        AuthorizeRequest.newBuilder()
            .setRequester(Protos.run(request.requester()))
            .setOwnerRuntime(Protos.bytes(request.ownerRuntime()))
            .setNamespace(request.namespace().text())
            .setFormat(request.format())
            .setValidMillis((int) request.validity().toMillis());
    for (GrantRequest.Wanted wanted : request.blocks()) {
      builder.addBlocks(
          WantedBlock.newBuilder()
              .setGroup(wanted.key().group())
              .setHash(ByteString.copyFrom(wanted.key().hash().toBytes()))
              .setTier(wanted.tier().code())
              .setGeneration(wanted.generation()));
    }
    return builder.build();
  }

  static GrantRequest request(AuthorizeRequest request) {
    if (request.getBlocksCount() < 1 || request.getBlocksCount() > GrantRequest.MAX_BLOCKS) {
      throw new IllegalArgumentException(
          request.getBlocksCount() + " blocks, not 1 to " + GrantRequest.MAX_BLOCKS);
    }
    Namespace namespace = new Namespace(request.getNamespace());
    List<GrantRequest.Wanted> blocks = new ArrayList<>(request.getBlocksCount());
    for (WantedBlock wanted : request.getBlocksList()) {
      byte[] hash = wanted.getHash().toByteArray();
      StateKey key =
          new StateKey(namespace, wanted.getGroup(), BlockHash.read(hash, 0, hash.length));
      blocks.add(
          new GrantRequest.Wanted(key, Tier.ofCode(wanted.getTier()), wanted.getGeneration()));
    }
    return new GrantRequest(
        Protos.run(request.getRequester()),
        Protos.uuid(request.getOwnerRuntime()),
        namespace,
        request.getFormat(),
        blocks,
        Duration.ofMillis(Integer.toUnsignedLong(request.getValidMillis())));
  }

  static AuthorizeResponse answer(GrantAnswer answer) {
    AuthorizeResponse.Builder response = AuthorizeResponse.newBuilder();
    return switch (answer) {
      case GrantAnswer.Refused(var refusal) -> response.setRefused(Protos.refusal(refusal)).build();
      case GrantAnswer.Granted granted -> response.setGranted(granted(granted)).build();
    };
  }

  private static Granted granted(GrantAnswer.Granted granted) {
    Granted.Builder builder =
        Granted.newBuilder()
            .setGrantId(Protos.bytes(granted.grantId()))
            .setSecret(Protos.bytes(new UUID(granted.secret().high(), granted.secret().low())))
            .setValidMillis((int) granted.validity().toMillis());
    for (BlockOutcome outcome : granted.blocks()) {
      builder.addBlocks(
          switch (outcome) {
            case BlockOutcome.NotGiven(var refusal) ->
                io.orbitkv.catalog.peer.proto.BlockOutcome.newBuilder()
                    .setRefused(Protos.refusal(refusal))
                    .build();
            case BlockOutcome.Given(List<SliceRange> slices) ->
                io.orbitkv.catalog.peer.proto.BlockOutcome.newBuilder()
                    .setRanges(ranges(slices))
                    .build();
          });
    }
    return builder.build();
  }

  private static BlockRanges ranges(List<SliceRange> slices) {
    BlockRanges.Builder ranges = BlockRanges.newBuilder();
    for (SliceRange slice : slices) {
      ranges.addSlices(
          io.orbitkv.catalog.peer.proto.SliceRange.newBuilder()
              .setShard(slice.shard())
              .setOffset(slice.offset())
              .setLength(slice.length())
              .setChecksum(slice.checksum()));
    }
    return ranges.build();
  }

  static GrantAnswer answer(AuthorizeResponse response, GrantRequest request) {
    return switch (response.getResultCase()) {
      case REFUSED -> new GrantAnswer.Refused(Protos.refusal(response.getRefused()));
      case GRANTED -> granted(response.getGranted(), request);
      case RESULT_NOT_SET -> throw new IllegalArgumentException("an answer of a kind not known");
    };
  }

  private static GrantAnswer granted(Granted granted, GrantRequest request) {
    if (granted.getBlocksCount() != request.blocks().size()) {
      throw new IllegalArgumentException(
          "a grant of %d blocks for %d"
              .formatted(granted.getBlocksCount(), request.blocks().size()));
    }
    UUID secret = Protos.uuid(granted.getSecret());
    List<BlockOutcome> blocks = granted.getBlocksList().stream().map(GrantProtos::outcome).toList();
    return new GrantAnswer.Granted(
        Protos.uuid(granted.getGrantId()),
        new GrantAnswer.Secret(secret.getMostSignificantBits(), secret.getLeastSignificantBits()),
        Duration.ofMillis(Integer.toUnsignedLong(granted.getValidMillis())),
        blocks);
  }

  private static BlockOutcome outcome(io.orbitkv.catalog.peer.proto.BlockOutcome outcome) {
    return switch (outcome.getResultCase()) {
      case REFUSED -> new BlockOutcome.NotGiven(Protos.refusal(outcome.getRefused()));
      case RANGES ->
          new BlockOutcome.Given(
              outcome.getRanges().getSlicesList().stream().map(GrantProtos::slice).toList());
      case RESULT_NOT_SET -> throw new IllegalArgumentException("an outcome of a kind not known");
    };
  }

  private static SliceRange slice(io.orbitkv.catalog.peer.proto.SliceRange slice) {
    if (slice.getOffset() < 0 || slice.getLength() < 1) {
      throw new IllegalArgumentException(
          "a slice of " + slice.getLength() + " bytes at " + slice.getOffset());
    }
    return new SliceRange(
        slice.getShard(), slice.getOffset(), slice.getLength(), slice.getChecksum());
  }

  static ReleaseRequest release(GrantRelease release) {
    return ReleaseRequest.newBuilder()
        .setRequester(Protos.run(release.requester()))
        .setGrantId(Protos.bytes(release.grantId()))
        .setDrained(release.drained())
        .setOutcome(release.outcome())
        .build();
  }

  static GrantRelease release(ReleaseRequest request) {
    return new GrantRelease(
        Protos.run(request.getRequester()),
        Protos.uuid(request.getGrantId()),
        request.getDrained(),
        request.getOutcome());
  }
}
