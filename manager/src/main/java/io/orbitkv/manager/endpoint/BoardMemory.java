package io.orbitkv.manager.endpoint;

import static io.orbitkv.client.wire.BoardLayout.INT;
import static io.orbitkv.client.wire.BoardLayout.LONG;

import io.orbitkv.client.wire.BoardLayout;
import io.orbitkv.core.copy.SlotBoard;
import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.Memfd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.Seal;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;

/**
 * The Manager's side of a board: the shared memory, an eventfd in each direction, and its own copy
 * of every turn it wrote. Made before the registration is decided; the mover's thread posts and
 * polls.
 */
public final class BoardMemory implements SlotBoard, AutoCloseable {
  private final Memfd memfd;
  private final Mapping mapping;
  private final MemorySegment board;
  private final GuardedSignal toEngine;
  private final EventFd toManager;
  private final int loadSlots;
  private final long[] turns;
  private volatile long sessionId;

  private BoardMemory(
      Memfd memfd,
      Mapping mapping,
      GuardedSignal toEngine,
      EventFd toManager,
      int loadSlots,
      int slots) {
    this.memfd = memfd;
    this.mapping = mapping;
    this.board = mapping.segment();
    this.toEngine = toEngine;
    this.toManager = toManager;
    this.loadSlots = loadSlots;
    this.turns = new long[slots];
  }

  /**
   * @throws NativeException EMFILE, ENFILE or ENOMEM, with everything given back
   */
  static BoardMemory create(int loadSlots, int saveSlots, SignalGuard guard)
      throws NativeException {
    int slots = loadSlots + saveSlots;
    long bytes = BoardLayout.bytes(slots);
    Memfd memfd = Memfd.create("orbitkv-board", bytes);
    Mapping mapping = null;
    GuardedSignal toEngine = null;
    try {
      memfd.addSeals(Set.of(Seal.SHRINK, Seal.GROW, Seal.SEAL));
      mapping = Mapping.shared(memfd.descriptor(), 0, bytes, MapOptions.READ_WRITE);
      toEngine = GuardedSignal.create(guard);
      return new BoardMemory(memfd, mapping, toEngine, EventFd.create(), loadSlots, slots);
    } catch (NativeException failed) {
      if (toEngine != null) {
        toEngine.close();
      }
      if (mapping != null) {
        mapping.close();
      }
      memfd.close();
      throw failed;
    }
  }

  /** Names the session in the header, before the board is handed over. */
  void open(long epoch, long newSessionId) {
    sessionId = newSessionId;
    BoardLayout.writeHeader(board, turns.length, loadSlots, epoch, newSessionId);
  }

  /** Bytes of the memfd. */
  long bytes() {
    return board.byteSize();
  }

  /** The board's descriptors of REGISTERED, in their order. */
  List<OwnedFd> toSend() {
    return List.of(memfd.descriptor(), toEngine.descriptor(), toManager.descriptor());
  }

  /** The mapping keeps the memory; the descriptor is not needed once it was sent. */
  void sent() {
    memfd.close();
  }

  // ---- the mover's thread ----------------------------------------------------------------------

  @Override
  public void entry(int slot, int index, int page, long slotOffset) {
    long at = BoardLayout.slot(slot) + BoardLayout.ENTRIES + (long) index * BoardLayout.ENTRY_BYTES;
    board.set(INT, at, page);
    board.set(INT, at + 4, 0);
    board.set(LONG, at + 8, slotOffset);
  }

  @Override
  public void post(int slot, Work work) {
    long at = BoardLayout.slot(slot);
    board.set(LONG, at + BoardLayout.OPERATION_ID, work.operationId());
    board.set(LONG, at + BoardLayout.REQUEST_ID, 0);
    board.set(LONG, at + BoardLayout.SESSION_ID, sessionId);
    board.set(INT, at + BoardLayout.GROUP_ID, work.groupId());
    board.set(
        INT, at + BoardLayout.KIND, work.scatter() ? BoardLayout.SCATTER : BoardLayout.GATHER);
    board.set(INT, at + BoardLayout.FIRST_LAYER, work.firstLayer());
    board.set(INT, at + BoardLayout.LAYER_COUNT, work.layerCount());
    board.set(INT, at + BoardLayout.ENTRY_COUNT, work.entryCount());
    board.set(INT, at + BoardLayout.FLAGS, work.sums() ? BoardLayout.WANT_SUMS : 0);
    turns[slot]++;
    BoardLayout.turn(board, slot, turns[slot]);
    signalEngine();
  }

  @Override
  public State poll(int slot) {
    long turn = BoardLayout.turn(board, slot);
    if (toEngine.heldUp()) {
      return State.BROKEN;
    }
    if (turn == turns[slot]) {
      return State.POSTED;
    }
    if (turn != turns[slot] + 1) {
      return State.BROKEN;
    }
    turns[slot] = turn;
    int status = board.get(INT, BoardLayout.slot(slot) + BoardLayout.STATUS);
    return status == BoardLayout.DONE ? State.DONE : State.FAILED;
  }

  @Override
  public String failure(int slot) {
    long at = BoardLayout.slot(slot);
    int status = board.get(INT, at + BoardLayout.STATUS);
    int detail = board.get(INT, at + BoardLayout.DETAIL);
    if (toEngine.heldUp()) {
      return "the eventfd to the engine was filled";
    }
    if (turns[slot] % 2 != 0) {
      return "slot %d has turn %d, posted was %d"
          .formatted(slot, BoardLayout.turn(board, slot), turns[slot]);
    }
    return switch (status) {
      case BoardLayout.REFUSED -> "not launched, CUresult " + detail;
      case BoardLayout.CUDA_ERROR -> "CUDA error " + detail;
      default -> "status " + status + ", detail " + detail;
    };
  }

  @Override
  public long sum(int slot, int index) {
    return board.get(LONG, BoardLayout.slot(slot) + BoardLayout.SUMS + 8L * index);
  }

  private void signalEngine() {
    try {
      toEngine.signal();
    } catch (NativeException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  @Override
  public void close() {
    memfd.close();
    mapping.close();
    toEngine.close();
    toManager.close();
  }
}
