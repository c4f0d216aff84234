package io.orbitkv.client.gpu;

import static io.orbitkv.client.wire.BoardLayout.INT;
import static io.orbitkv.client.wire.BoardLayout.LONG;

import io.orbitkv.client.wire.BoardLayout;
import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.cuda.CudaEvent;
import io.orbitkv.ffi.cuda.CudaException;
import io.orbitkv.ffi.cuda.CudaStream;
import io.orbitkv.ffi.cuda.PagesKernel;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread that does what the Manager posts on a session's board: it launches the kernel, loads
 * and saves each on a stream, and passes the slot back when the kernel and the copy of its sums are
 * done. It polls while something is under way or was a moment ago, without rest where there are
 * processors enough, and else sleeps on the eventfd.
 *
 * <p>A work that does not fit the registration is refused, not launched: a kernel that reaches
 * beyond the pages would cost the engine its context.
 */
public final class BoardServer implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(BoardServer.class.getName());
  private static final ValueLayout.OfInt ENTRY_INT = INT.withByteAlignment(1);
  private static final ValueLayout.OfLong ENTRY_LONG = LONG.withByteAlignment(1);
  private static final long SPIN_NANOS = 50_000;
  private static final boolean MANY_PROCESSORS = Runtime.getRuntime().availableProcessors() >= 8;
  private static final long REST_NANOS = 5_000;
  private static final long SLEEP_NANOS = 200_000_000;
  private static final long JOIN_MILLIS = 5_000;

  /** A slot that is the engine's. */
  private static final class Slot {
    final int index;
    final CudaStream stream;
    final CudaEvent done;
    long turn;
    boolean busy;

    Slot(int index, CudaStream stream, CudaEvent done) {
      this.index = index;
      this.stream = stream;
      this.done = done;
    }
  }

  private final StagedPages pages;
  private final Mapping mapping;
  private final MemorySegment board;
  private final long boardAddress;
  private final EventFd toEngine;
  private final EventFd toManager;
  private final CudaStream loads;
  private final CudaStream saves;
  private final List<Slot> slots = new ArrayList<>();
  private final byte[] inlined = new byte[PagesKernel.INLINE_BYTES];
  private final Thread thread;
  private volatile boolean stopping;
  private boolean closed;

  private BoardServer(
      StagedPages pages,
      Mapping mapping,
      long boardAddress,
      EventFd toEngine,
      EventFd toManager,
      CudaStream loads,
      CudaStream saves)
      throws CudaException {
    this.pages = pages;
    this.mapping = mapping;
    this.board = mapping.segment();
    this.boardAddress = boardAddress;
    this.toEngine = toEngine;
    this.toManager = toManager;
    this.loads = loads;
    this.saves = saves;
    StagingOptions options = pages.options();
    for (int i = 0; i < options.loadSlots() + options.saveSlots(); i++) {
      slots.add(new Slot(i, i < options.loadSlots() ? loads : saves, pages.device().event()));
    }
    this.thread = Thread.ofPlatform().daemon().name("orbitkv-board").unstarted(this::run);
  }

  static BoardServer start(StagedPages pages, Mapping mapping, EventFd toEngine, EventFd toManager)
      throws CudaException {
    pages.device().pin(mapping.segment());
    try {
      BoardServer server =
          new BoardServer(
              pages,
              mapping,
              pages.device().deviceAddress(mapping.segment()),
              toEngine,
              toManager,
              pages.device().stream(),
              pages.device().stream());
      server.thread.start();
      return server;
    } catch (CudaException failed) {
      pages.device().unpin(mapping.segment()); // it is not ours, the caller unmaps it
      throw failed;
    }
  }

  private void run() {
    try {
      long activeNanos = System.nanoTime();
      while (!stopping) {
        if (cycle()) {
          activeNanos = System.nanoTime();
        } else if (System.nanoTime() - activeNanos < SPIN_NANOS || (MANY_PROCESSORS && busy())) {
          Thread.onSpinWait();
        } else if (busy()) {
          LockSupport.parkNanos(REST_NANOS);
        } else if (toEngine.await(SLEEP_NANOS)) {
          toEngine.drain();
          activeNanos = System.nanoTime();
        }
      }
      loads.await();
      saves.await();
    } catch (CudaException | NativeException | RuntimeException broken) {
      LOG.log(
          System.Logger.Level.ERROR,
          "staged pages are served no more; the Manager will end the session for it",
          broken);
    }
  }

  private boolean busy() {
    for (Slot slot : slots) {
      if (slot.busy) {
        return true;
      }
    }
    return false;
  }

  /** Looks at every slot; whether there was something to do. */
  private boolean cycle() throws CudaException, NativeException {
    boolean worked = false;
    for (Slot slot : slots) {
      if (slot.busy) {
        worked |= finish(slot);
      } else {
        long turn = BoardLayout.turn(board, slot.index);
        if (turn == slot.turn + 1) {
          slot.turn = turn;
          begin(slot);
          worked = true;
        }
      }
    }
    return worked;
  }

  private void begin(Slot slot) throws NativeException {
    long at = BoardLayout.slot(slot.index);
    int kind = board.get(INT, at + BoardLayout.KIND);
    int firstLayer = board.get(INT, at + BoardLayout.FIRST_LAYER);
    int layers = board.get(INT, at + BoardLayout.LAYER_COUNT);
    int entries = board.get(INT, at + BoardLayout.ENTRY_COUNT);
    boolean wantSums = (board.get(INT, at + BoardLayout.FLAGS) & BoardLayout.WANT_SUMS) != 0;
    PageTables.Group group = pages.tables().group(board.get(INT, at + BoardLayout.GROUP_ID));
    boolean travel = entries <= PagesKernel.INLINE_ENTRIES;
    if (group == null || !fits(slot, kind, group, firstLayer, layers, entries)) {
      pass(slot, BoardLayout.REFUSED, 0);
      return;
    }
    try {
      if (!travel) {
        pages
            .kernel()
            .take(
                slot.stream,
                boardAddress + at + BoardLayout.ENTRIES,
                pages.entriesAddress(slot.index),
                entries);
      }
      pages
          .kernel()
          .launch(
              slot.stream,
              kind == BoardLayout.SCATTER,
              group.address(),
              firstLayer,
              layers,
              inlined,
              travel ? 0 : pages.entriesAddress(slot.index),
              entries,
              pages.slotAddress(slot.index),
              wantSums
                  ? pages.sums(slot.index, boardAddress + at + BoardLayout.SUMS)
                  : PagesKernel.Sums.NONE);
      slot.stream.record(slot.done);
      slot.busy = true;
    } catch (CudaException refused) {
      pass(slot, BoardLayout.REFUSED, refused.code());
    }
  }

  /** Looks at every entry, and takes those along that travel with the launch. */
  private boolean fits(
      Slot slot, int kind, PageTables.Group group, int firstLayer, int layers, int entries) {
    boolean load = slot.index < pages.options().loadSlots();
    if (kind != (load ? BoardLayout.SCATTER : BoardLayout.GATHER)
        || firstLayer < 0
        || layers < 1
        || firstLayer > group.layers() - layers
        || entries < 1
        || entries > BoardLayout.MAX_ENTRIES
        || (long) entries * layers > BoardLayout.MAX_SUMS) {
      return false;
    }
    long room = pages.options().slotBytes() - group.spanBytes(firstLayer, layers);
    MemorySegment from = board;
    long at = BoardLayout.slot(slot.index) + BoardLayout.ENTRIES;
    if (entries <= PagesKernel.INLINE_ENTRIES) {
      from = MemorySegment.ofArray(inlined);
      MemorySegment.copy(board, at, from, 0, (long) entries * BoardLayout.ENTRY_BYTES);
      at = 0;
    }
    for (int i = 0; i < entries; i++, at += BoardLayout.ENTRY_BYTES) {
      int page = from.get(ENTRY_INT, at);
      long offset = from.get(ENTRY_LONG, at + 8);
      if (page < 0 || page >= group.pages() || offset < 0 || offset > room || offset % 64 != 0) {
        return false;
      }
    }
    return true;
  }

  private boolean finish(Slot slot) throws NativeException {
    try {
      if (!slot.done.passed()) {
        return false;
      }
      pass(slot, BoardLayout.DONE, 0);
    } catch (CudaException failed) {
      pass(slot, BoardLayout.CUDA_ERROR, failed.code());
    }
    slot.busy = false;
    return true;
  }

  private void pass(Slot slot, int status, int detail) throws NativeException {
    long at = BoardLayout.slot(slot.index);
    board.set(INT, at + BoardLayout.STATUS, status);
    board.set(INT, at + BoardLayout.DETAIL, detail);
    slot.turn++;
    BoardLayout.turn(board, slot.index, slot.turn);
    toManager.signal();
  }

  /**
   * Stops the thread when what it launched is done, and gives everything back; the board of a
   * kernel that does not end within 5 s stays mapped.
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    stopping = true;
    try {
      toEngine.signal();
      thread.join(JOIN_MILLIS);
      if (thread.isAlive()) {
        LOG.log(
            System.Logger.Level.ERROR,
            "a kernel did not end within {0} ms: the board stays mapped",
            JOIN_MILLIS);
      } else {
        for (Slot slot : slots) {
          slot.done.close();
        }
        loads.close();
        saves.close();
        pages.device().unpin(board);
        mapping.close();
        toEngine.close();
        toManager.close();
      }
    } catch (CudaException | NativeException broken) {
      LOG.log(System.Logger.Level.ERROR, "a board was not given back whole", broken);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }
}
