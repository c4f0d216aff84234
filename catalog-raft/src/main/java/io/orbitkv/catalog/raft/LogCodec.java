package io.orbitkv.catalog.raft;

import com.google.protobuf.InvalidProtocolBufferException;
import io.orbitkv.catalog.placement.CatalogView;
import io.orbitkv.catalog.raft.proto.AnswerBatch;
import io.orbitkv.catalog.raft.proto.CommandBatch;
import io.orbitkv.catalog.raft.proto.LoggedAnswer;
import io.orbitkv.catalog.raft.proto.LoggedCommand;
import io.orbitkv.catalog.raft.proto.LoggedFound;
import io.orbitkv.catalog.raft.proto.LoggedOpenStream;
import io.orbitkv.catalog.raft.proto.LoggedOwnerEpoch;
import io.orbitkv.catalog.raft.proto.LoggedPlacement;
import io.orbitkv.catalog.raft.proto.LoggedPrepare;
import io.orbitkv.state.catalog.CatalogAnswer;
import io.orbitkv.state.catalog.CatalogCommand;
import io.orbitkv.state.catalog.CatalogCommand.CaughtUp;
import io.orbitkv.state.catalog.CatalogCommand.CommitHandoff;
import io.orbitkv.state.catalog.CatalogCommand.FenceOwner;
import io.orbitkv.state.catalog.CatalogCommand.ForgetOwner;
import io.orbitkv.state.catalog.CatalogCommand.Found;
import io.orbitkv.state.catalog.CatalogCommand.OpenStream;
import io.orbitkv.state.catalog.CatalogCommand.PrepareHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RetireHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RollBackHandoff;
import io.orbitkv.state.catalog.CatalogRefusal;
import io.orbitkv.state.catalog.CatalogSnapshot;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * Commands, answers and views as the bytes of {@code catalog_log.proto}; a view travels as a {@link
 * CatalogSnapshot}. Ratis brings a protobuf of its own under another name, so bytes are handed
 * over, not messages.
 */
final class LogCodec {
  /** Bytes that are none of this. */
  static final class Malformed extends Exception {
    private static final long serialVersionUID = 1L;

    Malformed(String what) {
      super(what);
    }
  }

  private LogCodec() {}

  static ByteString commands(List<CatalogCommand> commands) {
    CommandBatch.Builder batch = CommandBatch.newBuilder();
    commands.forEach(command -> batch.addCommands(logged(command)));
    return ByteString.copyFrom(batch.build().toByteArray());
  }

  static List<CatalogCommand> commands(ByteString bytes) throws Malformed {
    try {
      List<CatalogCommand> commands = new ArrayList<>();
      for (LoggedCommand logged : CommandBatch.parseFrom(bytes.toByteArray()).getCommandsList()) {
        commands.add(command(logged));
      }
      if (commands.isEmpty()) {
        throw new Malformed("an entry of no commands");
      }
      return commands;
    } catch (InvalidProtocolBufferException | IllegalArgumentException wrong) {
      throw new Malformed("an entry that is no list of commands: " + wrong.getMessage());
    }
  }

  static ByteString malformed() {
    return ByteString.copyFrom(AnswerBatch.newBuilder().setMalformed(true).build().toByteArray());
  }

  static ByteString answers(List<CatalogAnswer> answers) {
    AnswerBatch.Builder batch = AnswerBatch.newBuilder();
    for (CatalogAnswer answer : answers) {
      LoggedAnswer.Builder logged = LoggedAnswer.newBuilder();
      switch (answer) {
        case CatalogAnswer.Accepted accepted -> logged.setPosition(accepted.position());
        case CatalogAnswer.Refused refused -> logged.setRefusal(refused.reason().name());
      }
      Placement placement = answer.placement();
      if (placement != null) {
        LoggedPlacement.Builder members =
            LoggedPlacement.newBuilder().setGeneration(placement.generation());
        placement.members().forEach(member -> members.addMembers(member.text()));
        logged.setPlacement(members);
      }
      batch.addAnswers(logged);
    }
    return ByteString.copyFrom(batch.build().toByteArray());
  }

  static List<CatalogAnswer> answers(int catalogShard, ByteString bytes) throws Malformed {
    try {
      AnswerBatch batch = AnswerBatch.parseFrom(bytes.toByteArray());
      if (batch.getMalformed()) {
        throw new Malformed("the catalog shard could not read the commands");
      }
      List<CatalogAnswer> answers = new ArrayList<>();
      for (LoggedAnswer logged : batch.getAnswersList()) {
        Placement placement =
            logged.hasPlacement() ? placement(catalogShard, logged.getPlacement()) : null;
        answers.add(answer(logged, placement));
      }
      return answers;
    } catch (InvalidProtocolBufferException | IllegalArgumentException wrong) {
      throw new Malformed("answers that are none: " + wrong.getMessage());
    }
  }

  static CatalogView view(ByteString bytes) throws Malformed {
    try {
      return CatalogView.of(CatalogSnapshot.read(bytes.toByteArray()));
    } catch (CatalogSnapshot.Damaged damaged) {
      throw new Malformed(String.valueOf(damaged.getMessage()));
    }
  }

  private static CatalogAnswer answer(LoggedAnswer logged, @Nullable Placement placement) {
    return logged.getRefusal().isEmpty()
        ? new CatalogAnswer.Accepted(logged.getPosition(), placement)
        : new CatalogAnswer.Refused(CatalogRefusal.valueOf(logged.getRefusal()), placement);
  }

  private static Placement placement(int catalogShard, LoggedPlacement logged) {
    return new Placement(catalogShard, logged.getGeneration(), nodes(logged.getMembersList()));
  }

  private static LoggedCommand logged(CatalogCommand command) {
    LoggedCommand.Builder logged = LoggedCommand.newBuilder();
    switch (command) {
      case Found(var members) ->
          logged.setFound(LoggedFound.newBuilder().addAllMembers(names(members)));
      case OpenStream(NodeId owner, UUID runtime, long epoch) ->
          logged.setOpenStream(
              LoggedOpenStream.newBuilder()
                  .setOwner(owner.text())
                  .setRuntimeHigh(runtime.getMostSignificantBits())
                  .setRuntimeLow(runtime.getLeastSignificantBits())
                  .setEpoch(epoch));
      case FenceOwner(NodeId owner, long epoch) -> logged.setFenceOwner(owner(owner, epoch));
      case ForgetOwner(NodeId owner, long epoch) -> logged.setForgetOwner(owner(owner, epoch));
      case PrepareHandoff(long generation, long last, var target) ->
          logged.setPrepareHandoff(
              LoggedPrepare.newBuilder()
                  .setGeneration(generation)
                  .setLastAttempt(last)
                  .addAllTarget(names(target)));
      case CaughtUp(long attempt) -> logged.setCaughtUp(attempt);
      case CommitHandoff(long attempt) -> logged.setCommitHandoff(attempt);
      case RetireHandoff(long attempt) -> logged.setRetireHandoff(attempt);
      case RollBackHandoff(long attempt) -> logged.setRollBackHandoff(attempt);
    }
    return logged.build();
  }

  private static CatalogCommand command(LoggedCommand logged) throws Malformed {
    return switch (logged.getCommandCase()) {
      case FOUND -> new Found(nodes(logged.getFound().getMembersList()));
      case OPEN_STREAM -> {
        LoggedOpenStream open = logged.getOpenStream();
        yield new OpenStream(
            new NodeId(open.getOwner()),
            new UUID(open.getRuntimeHigh(), open.getRuntimeLow()),
            open.getEpoch());
      }
      case FENCE_OWNER ->
          new FenceOwner(
              new NodeId(logged.getFenceOwner().getOwner()), logged.getFenceOwner().getEpoch());
      case FORGET_OWNER ->
          new ForgetOwner(
              new NodeId(logged.getForgetOwner().getOwner()), logged.getForgetOwner().getEpoch());
      case PREPARE_HANDOFF -> {
        LoggedPrepare prepare = logged.getPrepareHandoff();
        yield new PrepareHandoff(
            prepare.getGeneration(), prepare.getLastAttempt(), nodes(prepare.getTargetList()));
      }
      case CAUGHT_UP -> new CaughtUp(logged.getCaughtUp());
      case COMMIT_HANDOFF -> new CommitHandoff(logged.getCommitHandoff());
      case RETIRE_HANDOFF -> new RetireHandoff(logged.getRetireHandoff());
      case ROLL_BACK_HANDOFF -> new RollBackHandoff(logged.getRollBackHandoff());
      case COMMAND_NOT_SET -> throw new Malformed("a command of a type that is not known here");
    };
  }

  private static LoggedOwnerEpoch owner(NodeId owner, long epoch) {
    return LoggedOwnerEpoch.newBuilder().setOwner(owner.text()).setEpoch(epoch).build();
  }

  private static List<String> names(List<NodeId> nodes) {
    return nodes.stream().map(NodeId::text).toList();
  }

  private static List<NodeId> nodes(List<String> names) {
    return names.stream().map(NodeId::new).toList();
  }
}
