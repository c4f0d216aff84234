package io.orbitkv.catalog.raft;

import io.orbitkv.catalog.placement.CatalogChangeListener;
import io.orbitkv.catalog.placement.CatalogView;
import io.orbitkv.state.catalog.CatalogAnswer;
import io.orbitkv.state.catalog.CatalogCommand;
import io.orbitkv.state.catalog.CatalogSnapshot;
import io.orbitkv.state.catalog.CatalogState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.MD5FileUtil;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands the committed entries of one catalog shard to {@link CatalogState#apply}, and nothing more.
 * An entry holds commands; one that cannot be read is answered so, alike on every member, and
 * changes nothing. A broken invariant ends the replica: it must not go on with a state that is
 * wrong.
 *
 * <p>A snapshot is written beside its name and moved there when it is whole and on disk: another
 * member may be sent the file at any moment, and one that was still being written would look right
 * there. Applying and snapshots are of one thread; queries read what was applied last.
 */
final class CatalogStateMachine extends BaseStateMachine {
  private static final Logger LOG = LoggerFactory.getLogger(CatalogStateMachine.class);

  private final int catalogShard;
  private final CatalogChangeListener listener;
  private final SimpleStateMachineStorage storage = new SimpleStateMachineStorage();
  private CatalogState state;
  private volatile CatalogView view;
  private volatile ByteString encoded;

  CatalogStateMachine(int catalogShard, CatalogChangeListener listener) {
    this.catalogShard = catalogShard;
    this.listener = listener;
    this.state = new CatalogState(catalogShard);
    this.view = CatalogView.of(state);
    this.encoded = ByteString.copyFrom(CatalogSnapshot.write(state));
  }

  /** What was applied last; any thread. */
  CatalogView view() {
    return view;
  }

  @Override
  public void initialize(RaftServer server, RaftGroupId groupId, RaftStorage raftStorage)
      throws IOException {
    super.initialize(server, groupId, raftStorage);
    storage.init(raftStorage);
    load(storage.getLatestSnapshot());
    getLifeCycle().transition(LifeCycle.State.STARTING);
    getLifeCycle().transition(LifeCycle.State.RUNNING);
  }

  @Override
  public void pause() {
    getLifeCycle().transition(LifeCycle.State.PAUSING);
    getLifeCycle().transition(LifeCycle.State.PAUSED);
  }

  @Override
  public void reinitialize() throws IOException {
    load(storage.loadLatestSnapshot());
    if (getLifeCycleState() == LifeCycle.State.PAUSED) {
      getLifeCycle().transition(LifeCycle.State.STARTING);
      getLifeCycle().transition(LifeCycle.State.RUNNING);
    }
  }

  private void load(@Nullable SingleFileSnapshotInfo latest) throws IOException {
    if (latest == null) {
      return;
    }
    Path file = latest.getFile().getPath();
    CatalogState read;
    try {
      read = CatalogSnapshot.read(Files.readAllBytes(file));
    } catch (CatalogSnapshot.Damaged damaged) {
      throw new IOException(file + ": " + damaged.getMessage(), damaged);
    }
    if (read.catalogShard() != catalogShard) {
      throw new IOException(file + " is of catalog shard " + read.catalogShard());
    }
    state = read;
    setLastAppliedTermIndex(latest.getTermIndex());
    show();
    listener.changed(view);
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    LogEntryProto entry = transaction.getLogEntry();
    ByteString data = entry.getStateMachineLogEntry().getLogData();
    long before = state.position();
    ByteString answer;
    try {
      List<CatalogAnswer> answers = new ArrayList<>();
      for (CatalogCommand command : LogCodec.commands(data)) {
        answers.add(state.apply(command));
      }
      answer = LogCodec.answers(answers);
    } catch (LogCodec.Malformed malformed) {
      LOG.warn(
          "catalog shard {}, entry {}: {}", catalogShard, entry.getIndex(), malformed.getMessage());
      answer = LogCodec.malformed();
    }
    updateLastAppliedTermIndex(TermIndex.valueOf(entry));
    if (state.position() != before) {
      show();
      listener.changed(view);
    }
    return CompletableFuture.completedFuture(Message.valueOf(answer));
  }

  private void show() {
    view = CatalogView.of(state);
    encoded = ByteString.copyFrom(CatalogSnapshot.write(state));
  }

  /** The state as a {@link CatalogSnapshot}; asked for after the reading was found linearizable. */
  @Override
  public CompletableFuture<Message> query(Message request) {
    return CompletableFuture.completedFuture(Message.valueOf(encoded));
  }

  @Override
  public long takeSnapshot() throws IOException {
    TermIndex last = getLastAppliedTermIndex();
    Path file = storage.getSnapshotFile(last.getTerm(), last.getIndex()).toPath();
    Path unfinished = file.resolveSibling("unfinished." + file.getFileName());
    try (FileChannel channel =
        FileChannel.open(
            unfinished,
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      ByteBuffer bytes = ByteBuffer.wrap(CatalogSnapshot.write(state));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    Files.move(
        unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    MD5Hash digest = MD5FileUtil.computeAndSaveMd5ForFile(file.toFile());
    storage.updateLatestSnapshot(new SingleFileSnapshotInfo(new FileInfo(file, digest), last));
    return last.getIndex();
  }

  @Override
  public @Nullable SingleFileSnapshotInfo getLatestSnapshot() {
    return storage.getLatestSnapshot();
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return storage;
  }
}
