package io.orbitkv.catalog.peer;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.inventory.Candidate;
import io.orbitkv.catalog.inventory.Fingerprint;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.inventory.RowBatch;
import io.orbitkv.catalog.inventory.Tier;
import io.orbitkv.catalog.lookup.Answer;
import io.orbitkv.catalog.lookup.Question;
import io.orbitkv.catalog.peer.proto.Category;
import io.orbitkv.catalog.peer.proto.Found;
import io.orbitkv.catalog.peer.proto.FoundRow;
import io.orbitkv.catalog.peer.proto.LookupRequest;
import io.orbitkv.catalog.peer.proto.LookupResponse;
import io.orbitkv.catalog.peer.proto.PlacementInfo;
import io.orbitkv.catalog.peer.proto.Run;
import io.orbitkv.catalog.peer.proto.StalePlacement;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.catalog.CatalogShards;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Between messages and what they mean. Everything that comes in is checked here: {@link
 * IllegalArgumentException} says what is wrong with it.
 */
final class Protos {
  private Protos() {}

  static ByteString bytes(UUID id) {
    return ByteString.copyFrom(
        ByteBuffer.allocate(16)
            .putLong(id.getMostSignificantBits())
            .putLong(id.getLeastSignificantBits())
            .flip());
  }

  static UUID uuid(ByteString bytes) {
    if (bytes.size() != 16) {
      throw new IllegalArgumentException("an id of " + bytes.size() + " bytes, not 16");
    }
    ByteBuffer buffer = bytes.asReadOnlyByteBuffer();
    return new UUID(buffer.getLong(), buffer.getLong());
  }

  static Run run(OwnerRun run) {
    return Run.newBuilder()
        .setNode(run.node().toString())
        .setRuntime(bytes(run.runtime()))
        .setEpoch(run.epoch())
        .build();
  }

  static OwnerRun run(Run run) {
    return new OwnerRun(new NodeId(run.getNode()), uuid(run.getRuntime()), run.getEpoch());
  }

  static io.orbitkv.catalog.peer.proto.Refusal refusal(Refusal refusal) {
    return io.orbitkv.catalog.peer.proto.Refusal.newBuilder()
        .setCategory(category(refusal.category()))
        .setReason(refusal.reason())
        .setRemedy(refusal.remedy())
        .build();
  }

  static Refusal refusal(io.orbitkv.catalog.peer.proto.Refusal refusal) {
    return new Refusal(category(refusal.getCategory()), refusal.getReason(), refusal.getRemedy());
  }

  private static Category category(RefusalCategory category) {
    return switch (category) {
      case USER -> Category.USER;
      case RESOURCE -> Category.RESOURCE;
      case STALE -> Category.STALE;
      case UNAVAILABLE -> Category.UNAVAILABLE;
      case INTERNAL -> Category.INTERNAL;
    };
  }

  private static RefusalCategory category(Category category) {
    return switch (category) {
      case USER -> RefusalCategory.USER;
      case RESOURCE -> RefusalCategory.RESOURCE;
      case STALE -> RefusalCategory.STALE;
      case UNAVAILABLE -> RefusalCategory.UNAVAILABLE;
      case INTERNAL, CATEGORY_UNSPECIFIED, UNRECOGNIZED -> RefusalCategory.INTERNAL;
    };
  }

  static ByteString rows(RowBatch rows) {
    return UnsafeByteOperations.unsafeWrap(rows.bytes());
  }

  static RowBatch rows(ByteString bytes) {
    return RowBatch.parse(bytes.toByteArray())
        .orElseThrow(() -> new IllegalArgumentException("rows that are not whole or not known"));
  }

  static int catalogShard(int shard) {
    if (shard < 0 || shard >= CatalogShards.COUNT) {
      throw new IllegalArgumentException(
          "catalog shard " + shard + ", not 0 to " + (CatalogShards.COUNT - 1));
    }
    return shard;
  }

  static PlacementInfo placement(Placement placement) {
    PlacementInfo.Builder info =
        PlacementInfo.newBuilder()
            .setCatalogShard(placement.catalogShard())
            .setGeneration(placement.generation());
    placement.members().forEach(member -> info.addMembers(member.toString()));
    return info.build();
  }

  static Placement placement(PlacementInfo info) {
    List<NodeId> members = info.getMembersList().stream().map(NodeId::new).toList();
    return new Placement(catalogShard(info.getCatalogShard()), info.getGeneration(), members);
  }

  static LookupRequest question(Question question) {
    ByteBuffer keys = ByteBuffer.allocate(question.keys().size() * 16);
    question.keys().forEach(key -> keys.putLong(key.high()).putLong(key.low()));
    return LookupRequest.newBuilder()
        .setCatalogShard(question.catalogShard())
        .setGeneration(question.generation())
        .setFingerprints(UnsafeByteOperations.unsafeWrap(keys.flip()))
        .setPerTier(question.perTier())
        .build();
  }

  static Question question(LookupRequest request) {
    ByteString keys = request.getFingerprints();
    if (keys.size() % 16 != 0) {
      throw new IllegalArgumentException(keys.size() + " bytes of fingerprints of 16");
    }
    ByteBuffer buffer = keys.asReadOnlyByteBuffer();
    List<Fingerprint> fingerprints = new ArrayList<>(keys.size() / 16);
    while (buffer.hasRemaining()) {
      fingerprints.add(new Fingerprint(buffer.getLong(), buffer.getLong()));
    }
    return new Question(
        catalogShard(request.getCatalogShard()),
        request.getGeneration(),
        fingerprints,
        request.getPerTier());
  }

  static LookupResponse answer(Answer answer) {
    LookupResponse.Builder response = LookupResponse.newBuilder();
    return switch (answer) {
      case Answer.Found found -> response.setFound(found(found)).build();
      case Answer.Stale(Placement current) ->
          response.setStale(StalePlacement.newBuilder().setCurrent(placement(current))).build();
      case Answer.Refused(Refusal refusal) -> response.setRefused(refusal(refusal)).build();
    };
  }

  private static Found found(Answer.Found found) {
    Found.Builder builder = Found.newBuilder().setWhole(found.whole());
    Map<OwnerRun, Integer> owners = new HashMap<>();
    for (int key = 0; key < found.byKey().size(); key++) {
      for (Candidate candidate : found.byKey().get(key)) {
        Integer owner = owners.get(candidate.owner());
        if (owner == null) {
          owner = owners.size();
          owners.put(candidate.owner(), owner);
          builder.addOwners(run(candidate.owner()));
        }
        builder.addRows(
            FoundRow.newBuilder()
                .setKey(key)
                .setOwner(owner)
                .setTier(candidate.tier().code())
                .setGeneration(candidate.generation())
                .setLengthBytes(candidate.lengthBytes()));
      }
    }
    return builder.build();
  }

  static Answer answer(LookupResponse response, Question question) {
    return switch (response.getResultCase()) {
      case FOUND -> found(response.getFound(), question);
      case STALE -> new Answer.Stale(placement(response.getStale().getCurrent()));
      case REFUSED -> new Answer.Refused(refusal(response.getRefused()));
      case RESULT_NOT_SET -> throw new IllegalArgumentException("an answer of a kind not known");
    };
  }

  private static Answer found(Found found, Question question) {
    List<OwnerRun> owners = found.getOwnersList().stream().map(Protos::run).toList();
    List<List<Candidate>> byKey = new ArrayList<>(question.keys().size());
    question.keys().forEach(_ -> byKey.add(new ArrayList<>(1)));
    for (FoundRow row : found.getRowsList()) {
      if (row.getKey() < 0
          || row.getKey() >= byKey.size()
          || row.getOwner() < 0
          || row.getOwner() >= owners.size()) {
        throw new IllegalArgumentException("a row of a key or an owner that is not there");
      }
      byKey
          .get(row.getKey())
          .add(
              new Candidate(
                  owners.get(row.getOwner()),
                  Tier.ofCode(row.getTier()),
                  row.getGeneration(),
                  row.getLengthBytes()));
    }
    return new Answer.Found(byKey, found.getWhole());
  }
}
