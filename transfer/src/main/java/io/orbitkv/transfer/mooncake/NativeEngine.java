package io.orbitkv.transfer.mooncake;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * One engine of the library, with the checks that the library does not make: a call after destroy
 * or with a batch that is not there would end the process. Methods that take long are called from
 * threads of their own; the lock is never held across a native call but destroy's.
 */
final class NativeEngine {
  private static final long REQUEST_BYTES = 40;
  private static final long STATUS_BYTES = 16;
  private static final int NAME_BYTES = 256;
  private static final int READ = 0;

  private final MooncakeLibrary library;
  private final MemorySegment handle;
  private final Set<Long> batches = new HashSet<>();
  private boolean destroyed;

  /** How a task stands. */
  enum TaskState {
    WAITING,
    COMPLETED,
    FAILED
  }

  /** One read of a batch: from an address of the peer to memory here. */
  record Task(MemorySegment destination, long sourceAddress) {}

  private NativeEngine(MooncakeLibrary library, MemorySegment handle) {
    this.library = library;
    this.handle = handle;
  }

  /** Makes an engine that finds peers by itself; takes about 100 ms. */
  static NativeEngine create(MooncakeLibrary library, String host, boolean tcp) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment handle =
          (MemorySegment)
              library.create.invokeExact(
                  arena.allocateFrom("P2PHANDSHAKE"),
                  arena.allocateFrom(host + ":0"),
                  arena.allocateFrom(host),
                  0L,
                  tcp ? 0 : 1);
      if (handle.equals(MemorySegment.NULL)) {
        throw new MooncakeException("createTransferEngine", -1);
      }
      NativeEngine engine = new NativeEngine(library, handle);
      if (tcp) {
        MemorySegment transport =
            (MemorySegment)
                library.install.invokeExact(
                    handle, arena.allocateFrom("tcp"), MooncakeLibrary.nullPointer());
        if (transport.equals(MemorySegment.NULL)) {
          engine.destroy();
          throw new MooncakeException("installTransport", -1);
        }
      }
      return engine;
    } catch (Throwable thrown) {
      throw MooncakeLibrary.failure(thrown);
    }
  }

  /** The name that peers open, host:port; the library chose the port. */
  String name() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(NAME_BYTES);
      checkNegative(
          "getLocalIpAndPort", (int) library.localName.invokeExact(live(), out, (long) NAME_BYTES));
      return out.getString(0);
    } catch (Throwable thrown) {
      throw MooncakeLibrary.failure(thrown);
    }
  }

  void register(MemorySegment memory) {
    try (Arena arena = Arena.ofConfined()) {
      checkNegative(
          "registerLocalMemory",
          (int)
              library.register.invokeExact(
                  live(), memory, memory.byteSize(), arena.allocateFrom("*"), 1));
    } catch (Throwable thrown) {
      throw MooncakeLibrary.failure(thrown);
    }
  }

  /** Finds a peer: at once, or after 5 s where packets are lost. */
  int openSegment(String name) {
    try (Arena arena = Arena.ofConfined()) {
      int segment = (int) library.openSegment.invokeExact(live(), arena.allocateFrom(name));
      checkNegative("openSegment", segment);
      return segment;
    } catch (Throwable thrown) {
      throw MooncakeLibrary.failure(thrown);
    }
  }

  /** Begins reads as one batch; may take minutes under a partition. */
  long submit(int segment, List<Task> tasks) {
    try (Arena arena = Arena.ofConfined()) {
      long batch = (long) library.allocateBatch.invokeExact(live(), (long) tasks.size());
      if (batch == -1L) {
        throw new MooncakeException("allocateBatchID", -1);
      }
      MemorySegment requests = arena.allocate(REQUEST_BYTES * tasks.size(), 8);
      for (int i = 0; i < tasks.size(); i++) {
        MemorySegment request = requests.asSlice(i * REQUEST_BYTES, REQUEST_BYTES);
        Task task = tasks.get(i);
        request.set(JAVA_INT, 0, READ);
        request.set(JAVA_LONG, 8, task.destination().address());
        request.set(JAVA_INT, 16, segment);
        request.set(JAVA_LONG, 24, task.sourceAddress());
        request.set(JAVA_LONG, 32, task.destination().byteSize());
      }
      synchronized (this) {
        batches.add(batch);
      }
      int rc = (int) library.submit.invokeExact(live(), batch, requests, (long) tasks.size());
      if (rc != 0) {
        throw new MooncakeException("submitTransfer", rc);
      }
      return batch;
    } catch (Throwable thrown) {
      throw MooncakeLibrary.failure(thrown);
    }
  }

  /** How a task of a live batch stands. */
  TaskState status(long batch, int task) {
    checkBatch(batch);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(STATUS_BYTES, 8);
      int rc = (int) library.status.invokeExact(live(), batch, (long) task, out);
      if (rc != 0) {
        throw new MooncakeException("getTransferStatus", rc);
      }
      return switch (out.get(JAVA_INT, 0)) {
        case 4 -> TaskState.COMPLETED;
        case 2, 3, 5, 6 -> TaskState.FAILED;
        default -> TaskState.WAITING;
      };
    } catch (Throwable thrown) {
      throw MooncakeLibrary.failure(thrown);
    }
  }

  /** Forgets a batch whose every task was seen to have ended. */
  void free(long batch) {
    checkBatch(batch);
    try {
      int rc = (int) library.freeBatch.invokeExact(live(), batch);
      if (rc != 0) {
        throw new MooncakeException("freeBatchID", rc);
      }
    } catch (Throwable thrown) {
      throw MooncakeLibrary.failure(thrown);
    }
    synchronized (this) {
      batches.remove(batch);
    }
  }

  /** Ends its threads: afterwards it touches no memory. No other call may be under way. */
  synchronized void destroy() {
    if (destroyed) {
      return;
    }
    destroyed = true;
    try {
      library.destroy.invokeExact(handle);
    } catch (Throwable thrown) {
      throw MooncakeLibrary.failure(thrown);
    }
  }

  private synchronized MemorySegment live() {
    if (destroyed) {
      throw new IllegalStateException("the engine was destroyed");
    }
    return handle;
  }

  private synchronized void checkBatch(long batch) {
    if (!batches.contains(batch)) {
      throw new IllegalStateException("no batch " + batch);
    }
  }

  private static void checkNegative(String call, int rc) {
    if (rc < 0) {
      throw new MooncakeException(call, rc);
    }
  }
}
