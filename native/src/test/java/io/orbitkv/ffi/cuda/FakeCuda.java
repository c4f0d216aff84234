package io.orbitkv.ffi.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A driver with one GPU whose memory is this process's own. What is submitted to a stream happens
 * later: one step whenever an event of that stream is looked at, so that copies overlap as they do
 * on a GPU, or not at all while the driver is held. It refuses what a driver refuses, and counts
 * what was not given back. Any thread.
 */
public final class FakeCuda implements CudaDriver {
  private static final String UUID = "GPU-00000000-0000-0000-0000-0000000000f1";
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Memory that is nobody's any more is collected; a late access fails its test elsewhere. */
  private final Map<Long, MemorySegment> allocations = new HashMap<>();

  private final Map<Long, Long> opened = new HashMap<>();
  private final Set<Long> pinned = new HashSet<>();
  private int contexts;
  private int streams;
  private int events;
  private boolean held;
  private @Nullable CudaException copyFailure;
  private @Nullable CudaException kernelFailure;
  private int corruptions;
  private long copies;

  /** Nothing that was submitted happens until {@link #release}. */
  public synchronized void hold() {
    held = true;
  }

  /** Things happen again. */
  public synchronized void release() {
    held = false;
  }

  /** Copies from here on fail when they should have happened. */
  public synchronized void failCopies() {
    copyFailure = new CudaException("cuEventQuery", 700, "CUDA_ERROR_ILLEGAL_ADDRESS");
  }

  /** Kernels from here on are refused. */
  public synchronized void failKernels() {
    kernelFailure = new CudaException("cuLaunchKernel", 1, "CUDA_ERROR_INVALID_VALUE");
  }

  /** The next copy to the device brings a wrong bit. */
  public synchronized void corruptNextLoad() {
    corruptions++;
  }

  /** What was not given back: allocations, opened handles, pinned memories, streams, events. */
  public synchronized String leaks() {
    return "allocations %d, handles %d, pins %d, streams %d, events %d, contexts %d"
        .formatted(allocations.size(), opened.size(), pinned.size(), streams, events, contexts);
  }

  /** What {@link #leaks} says when there are none. */
  public static final String NO_LEAKS =
      "allocations 0, handles 0, pins 0, streams 0, events 0, contexts 0";

  /** Handles of other processes that are open. */
  public synchronized int openHandles() {
    return opened.size();
  }

  /** Copies that were submitted. */
  public synchronized long copies() {
    return copies;
  }

  @Override
  public List<CudaGpu> gpus() {
    return List.of(new CudaGpu(0, UUID, "Fake GPU", 1L << 30, 4));
  }

  @Override
  public String version() {
    return "13.0";
  }

  @Override
  public synchronized CudaDevice open(int ordinal) {
    contexts++;
    return new Device();
  }

  private static MemorySegment at(long address, long bytes) {
    return MemorySegment.ofAddress(address).reinterpret(bytes);
  }

  private static CudaException invalid(String call) {
    return new CudaException(call, 1, "CUDA_ERROR_INVALID_VALUE");
  }

  private final class Device implements CudaDevice {
    @Override
    public CudaGpu gpu() {
      return gpus().getFirst();
    }

    @Override
    public void pin(MemorySegment memory) throws CudaException {
      synchronized (FakeCuda.this) {
        if (!pinned.add(memory.address())) {
          throw new CudaException(
              "cuMemHostRegister", 712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED");
        }
      }
    }

    @Override
    public void unpin(MemorySegment memory) throws CudaException {
      synchronized (FakeCuda.this) {
        if (!pinned.remove(memory.address())) {
          throw new CudaException(
              "cuMemHostUnregister", 713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED");
        }
      }
    }

    @Override
    public long deviceAddress(MemorySegment memory) throws CudaException {
      synchronized (FakeCuda.this) {
        if (!pinned.contains(memory.address())) {
          throw invalid("cuMemHostGetDevicePointer");
        }
        return memory.address();
      }
    }

    @Override
    public long allocate(long bytes) {
      MemorySegment memory = Arena.ofAuto().allocate(bytes, 256);
      synchronized (FakeCuda.this) {
        allocations.put(memory.address(), memory);
      }
      return memory.address();
    }

    @Override
    public void free(long address) throws CudaException {
      synchronized (FakeCuda.this) {
        if (allocations.remove(address) == null) {
          throw invalid("cuMemFree");
        }
      }
    }

    @Override
    public byte[] export(long address) throws CudaException {
      synchronized (FakeCuda.this) {
        if (!allocations.containsKey(address)) {
          throw invalid("cuIpcGetMemHandle");
        }
      }
      byte[] handle = new byte[HANDLE_BYTES];
      MemorySegment.ofArray(handle).set(LONG, 8, address);
      return handle;
    }

    @Override
    public long open(byte[] handle) throws CudaException {
      long address = MemorySegment.ofArray(handle).get(LONG, 8);
      synchronized (FakeCuda.this) {
        if (!allocations.containsKey(address)) {
          throw new CudaException("cuIpcOpenMemHandle", 201, "CUDA_ERROR_INVALID_CONTEXT");
        }
        if (opened.putIfAbsent(address, address) != null) {
          throw new CudaException("cuIpcOpenMemHandle", 208, "CUDA_ERROR_ALREADY_MAPPED");
        }
      }
      return address;
    }

    @Override
    public void close(long address) throws CudaException {
      synchronized (FakeCuda.this) {
        if (opened.remove(address) == null) {
          throw invalid("cuIpcCloseMemHandle");
        }
      }
    }

    @Override
    public long size(long address) throws CudaException {
      synchronized (FakeCuda.this) {
        MemorySegment memory = allocations.get(address);
        if (memory == null) {
          throw invalid("cuMemGetAddressRange");
        }
        return memory.byteSize();
      }
    }

    @Override
    public CudaStream stream() {
      synchronized (FakeCuda.this) {
        streams++;
      }
      return new Stream();
    }

    @Override
    public CudaEvent event() {
      synchronized (FakeCuda.this) {
        events++;
      }
      return new Event();
    }

    @Override
    public CudaKernel kernel(byte[] ptx, String name) throws CudaException {
      if (ptx.length == 0) {
        throw new CudaException("cuModuleLoadData", 218, "CUDA_ERROR_INVALID_PTX");
      }
      return new Kernel(name);
    }

    @Override
    public void close() {
      synchronized (FakeCuda.this) {
        contexts--;
      }
    }
  }

  private record Kernel(String name) implements CudaKernel {}

  /** Something that happens later. */
  private interface Step {
    void run() throws CudaException;
  }

  private record Graph(List<Step> steps) implements CudaGraph {
    @Override
    public void close() {}
  }

  private final class Stream implements CudaStream {
    private final ArrayDeque<Step> steps = new ArrayDeque<>();
    private @Nullable CudaException failed;

    private void add(Step step) {
      synchronized (FakeCuda.this) {
        steps.addLast(step);
      }
    }

    /** Lets one step happen; throws what any before it failed with. */
    private void step() throws CudaException {
      synchronized (FakeCuda.this) {
        if (!held && failed == null) {
          Step next = steps.pollFirst();
          if (next != null) {
            try {
              next.run();
            } catch (CudaException broken) {
              failed = broken;
            }
          }
        }
        if (failed != null) {
          throw failed;
        }
      }
    }

    private void copy(MemorySegment to, MemorySegment from, boolean load) throws CudaException {
      if (copyFailure != null) {
        throw copyFailure;
      }
      to.copyFrom(from);
      if (load && corruptions > 0) {
        corruptions--;
        to.set(ValueLayout.JAVA_BYTE, 8, (byte) (to.get(ValueLayout.JAVA_BYTE, 8) ^ 4));
      }
    }

    @Override
    public void toDevice(long to, MemorySegment from) {
      add(
          () -> {
            copies++;
            copy(at(to, from.byteSize()), from, true);
          });
    }

    @Override
    public void toHost(MemorySegment to, long from) {
      add(
          () -> {
            copies++;
            copy(to, at(from, to.byteSize()), false);
          });
    }

    @Override
    public void toDevice(
        long to, long toPitch, MemorySegment from, long fromPitch, long pieceBytes, long pieces) {
      add(
          () -> {
            copies++;
            for (long i = 0; i < pieces; i++) {
              copy(at(to + i * toPitch, pieceBytes), from.asSlice(i * fromPitch, pieceBytes), true);
            }
          });
    }

    @Override
    public void copyBatch(long[] to, long[] from, long bytes) {
      add(
          () -> {
            for (int i = 0; i < to.length; i++) {
              copies++;
              at(to[i], bytes).copyFrom(at(from[i], bytes));
            }
          });
    }

    @Override
    public void fill(long address, byte value, long bytes) {
      add(() -> at(address, bytes).fill(value));
    }

    @Override
    public void launch(CudaKernel kernel, int blocks, int threads, byte[] last, long... a)
        throws CudaException {
      if (blocks < 1 || threads < 1 || threads > PagesKernel.MAX_THREADS) {
        throw invalid("cuLaunchKernel");
      }
      synchronized (FakeCuda.this) {
        if (kernelFailure != null) {
          throw kernelFailure;
        }
      }
      MemorySegment inlined = MemorySegment.ofArray(last.clone());
      add(
          switch (kernel.name()) {
            case "orbitkv_scatter" -> () -> move(true, inlined, a);
            case "orbitkv_gather" -> () -> move(false, inlined, a);
            case "orbitkv_begin" -> () -> at(a[1], 8 * a[2]).copyFrom(at(a[0], 8 * a[2]));
            default -> throw invalid("cuLaunchKernel");
          });
    }

    @Override
    public CudaGraph capture(CudaGraph.Submission work) throws CudaException {
      synchronized (FakeCuda.this) {
        List<Step> before = List.copyOf(steps);
        steps.clear();
        work.run();
        Graph captured = new Graph(List.copyOf(steps));
        steps.clear();
        steps.addAll(before);
        return captured;
      }
    }

    @Override
    public void launch(CudaGraph graph) {
      ((Graph) graph).steps().forEach(this::add);
    }

    @Override
    public void record(CudaEvent event) {
      Event mark = (Event) event;
      synchronized (FakeCuda.this) {
        mark.stream = this;
        mark.reached = false;
        steps.addLast(() -> mark.reached = true);
      }
    }

    @Override
    public void await() throws CudaException {
      while (true) {
        synchronized (FakeCuda.this) {
          if (steps.isEmpty() && failed == null) {
            return;
          }
        }
        step();
      }
    }

    @Override
    public void close() {
      synchronized (FakeCuda.this) {
        streams--;
      }
    }
  }

  private final class Event implements CudaEvent {
    private @Nullable Stream stream;
    private boolean reached = true;

    @Override
    public boolean passed() throws CudaException {
      synchronized (FakeCuda.this) {
        if (!reached && stream != null) {
          stream.step();
        }
        return reached;
      }
    }

    @Override
    public double millisSince(CudaEvent earlier) {
      return 0;
    }

    @Override
    public void close() {
      synchronized (FakeCuda.this) {
        events--;
      }
    }
  }

  // ---- the kernels -----------------------------------------------------------------------------

  /** What pages.cu does, byte by byte. */
  private static void move(boolean toPages, MemorySegment inlined, long[] a) {
    long layers = a[0];
    int firstLayer = (int) a[1];
    int layerCount = (int) a[2];
    int entryCount = (int) a[4];
    MemorySegment entries =
        a[3] == 0 ? inlined : at(a[3], (long) entryCount * PagesKernel.ENTRY_BYTES);
    MemorySegment table = at(layers, (firstLayer + layerCount) * (long) PagesKernel.LAYER_BYTES);
    long base = table.get(LONG, firstLayer * (long) PagesKernel.LAYER_BYTES + 32);
    for (int e = 0; e < entryCount; e++) {
      int page = entries.get(INT, e * 16L);
      long slot = a[5] + entries.get(LONG, e * 16L + 8);
      for (int l = 0; l < layerCount; l++) {
        long layer = (firstLayer + l) * (long) PagesKernel.LAYER_BYTES;
        long position = table.get(LONG, layer + 32);
        int bytes = table.get(INT, layer + 28);
        int segments = table.get(INT, layer + 24);
        MemorySegment piece = at(slot + position - base, (long) bytes * segments);
        for (int s = 0; s < segments; s++) {
          MemorySegment segment =
              at(
                  table.get(LONG, layer)
                      + page * table.get(LONG, layer + 8)
                      + s * table.get(LONG, layer + 16),
                  bytes);
          MemorySegment part = piece.asSlice((long) s * bytes, bytes);
          (toPages ? segment : part).copyFrom(toPages ? part : segment);
        }
        if (a[6] != 0) {
          long index = 8L * (e * layerCount + l);
          long zero = at(a[6] + index, 8).get(LONG, 0);
          at(a[7] + index, 8).set(LONG, 0, zero + partialSum(piece, position));
        }
      }
    }
  }

  private static final long STEP = 0x9E3779B97F4A7C15L;

  private static long mix(long z) {
    long y = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    y = (y ^ (y >>> 27)) * 0x94D049BB133111EBL;
    return y ^ (y >>> 31);
  }

  /** The sum that docs/checksum.md defines. */
  private static long partialSum(MemorySegment bytes, long position) {
    long total = 0;
    for (long at = 0; at < bytes.byteSize(); at += 8) {
      long word = 0;
      for (int b = 0; b < 8 && at + b < bytes.byteSize(); b++) {
        word |= (bytes.get(ValueLayout.JAVA_BYTE, at + b) & 0xffL) << (8 * b);
      }
      long i = (position + at) / 8;
      long n = i / 512;
      long x = word + mix((i % 512 + 1) * STEP) + mix(n * STEP + 0x243F6A8885A308D3L);
      long weight = mix(n * STEP + 0x13198A2E03707344L) | 1;
      total += weight * ((x & 0xffffffffL) * (x >>> 32) + word);
    }
    return total;
  }
}
