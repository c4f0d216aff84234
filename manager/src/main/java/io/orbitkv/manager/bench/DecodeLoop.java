package io.orbitkv.manager.bench;

import io.orbitkv.ffi.cuda.CudaDevice;
import io.orbitkv.ffi.cuda.CudaEvent;
import io.orbitkv.ffi.cuda.CudaException;
import io.orbitkv.ffi.cuda.CudaGraph;
import io.orbitkv.ffi.cuda.CudaKernel;
import io.orbitkv.ffi.cuda.CudaStream;
import io.orbitkv.manager.workload.Samples;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What decoding does to a GPU: steps of 32 kernels that are bound by its memory, one after the
 * other, each over weights of its own, captured once and launched as a graph as engines do, each
 * step timed by the GPU itself. Two steps are submitted ahead, so that the GPU never waits for this
 * thread.
 */
final class DecodeLoop implements AutoCloseable {
  private static final int LAYERS = 32;
  private static final long LAYER_BYTES = 136L << 20;
  private static final int AHEAD = 2;
  private static final int MARKS = 8;

  private final CudaDevice device;
  private final CudaStream stream;
  private final CudaKernel kernel;
  private final CudaGraph graph;
  private final CudaEvent[] marks = new CudaEvent[MARKS];
  private final long memory;
  private final int blocks;
  private final Thread thread;
  private volatile boolean stopping;
  private volatile boolean counting;
  private volatile @Nullable CudaException failure;
  private Samples samples = new Samples();

  DecodeLoop(CudaDevice device) throws CudaException {
    this.device = device;
    this.stream = device.stream();
    this.kernel = device.kernel(ptx(), "orbitkv_decode");
    this.memory = device.allocate(LAYERS * LAYER_BYTES + 64);
    this.blocks = device.gpu().multiprocessors() * 4;
    for (int i = 0; i < MARKS; i++) {
      marks[i] = device.event();
    }
    this.graph = stream.capture(this::step);
    this.thread = Thread.ofPlatform().daemon().name("bench-decode").start(this::run);
  }

  private static byte[] ptx() {
    try (InputStream in = DecodeLoop.class.getResourceAsStream("decode.ptx")) {
      if (in == null) {
        throw new IllegalStateException("the jar has no decode.ptx");
      }
      return in.readAllBytes();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private void step() throws CudaException {
    for (int layer = 0; layer < LAYERS; layer++) {
      long weights = memory + layer * LAYER_BYTES;
      stream.launch(kernel, blocks, 512, weights, LAYER_BYTES / 16, memory + LAYERS * LAYER_BYTES);
    }
  }

  private void run() {
    try {
      for (long step = 0; !stopping; step++) {
        stream.launch(graph);
        stream.record(mark(step));
        if (step > AHEAD) {
          CudaEvent last = mark(step - AHEAD);
          while (!last.passed()) {
            LockSupport.parkNanos(20_000);
          }
          if (counting) {
            synchronized (this) {
              samples.add((long) (last.millisSince(mark(step - AHEAD - 1)) * 1e6));
            }
          }
        }
      }
      stream.await();
    } catch (CudaException broken) {
      failure = broken;
    }
  }

  private CudaEvent mark(long step) {
    return marks[(int) (step % MARKS)];
  }

  /** Times steps while something runs. */
  Samples during(Runnable other) throws CudaException {
    synchronized (this) {
      samples = new Samples();
    }
    counting = true;
    other.run();
    counting = false;
    CudaException broken = failure;
    if (broken != null) {
      throw broken;
    }
    synchronized (this) {
      return samples;
    }
  }

  @Override
  public void close() throws CudaException {
    stopping = true;
    try {
      thread.join(5_000);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
    for (CudaEvent mark : marks) {
      mark.close();
    }
    graph.close();
    stream.close();
    device.free(memory);
  }
}
