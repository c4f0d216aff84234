package io.orbitkv.manager.bench;

import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.cuda.CudaDevice;
import io.orbitkv.ffi.cuda.CudaException;
import io.orbitkv.ffi.cuda.CudaStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

/**
 * What the bus gives to copies in this process: one pinned copy of everything, each way and both
 * ways at once, and the two ways in which others copy segments: a loop of copies, and the driver's
 * batch call.
 */
final class GpuFloor implements AutoCloseable {
  /** Pieces that a loop or a batch copies at most; they are slow. */
  private static final int MOST_PIECES = 16_384;

  private final CudaDevice device;
  private final Mapping host;
  private final long bytes;
  private final long in;
  private final long out;
  private final CudaStream loads;
  private final CudaStream saves;

  GpuFloor(CudaDevice device, long bytes) throws CudaException, NativeException {
    this.device = device;
    this.bytes = bytes;
    this.host = Mapping.anonymous(2 * bytes, MapOptions.READ_WRITE.withPopulate(true));
    device.pin(host.segment());
    this.in = device.allocate(bytes);
    this.out = device.allocate(bytes);
    this.loads = device.stream();
    this.saves = device.stream();
  }

  /** Work for the GPU. */
  private interface Work {
    void submit() throws CudaException;
  }

  double load() throws CudaException {
    return speed(bytes, () -> loads.toDevice(in, half(0)));
  }

  double save() throws CudaException {
    return speed(bytes, () -> saves.toHost(half(1), out));
  }

  /** Both ways at once, bytes of both. */
  double both() throws CudaException {
    return speed(
        2 * bytes,
        () -> {
          loads.toDevice(in, half(0));
          saves.toHost(half(1), out);
        });
  }

  double loop(int pieceBytes, boolean load) throws CudaException {
    int pieces = pieces(pieceBytes);
    int[] order = order(pieces);
    return speed(
        (long) pieces * pieceBytes,
        () -> {
          for (int i = 0; i < pieces; i++) {
            MemorySegment piece = half(0).asSlice((long) i * pieceBytes, pieceBytes);
            long at = in + (long) order[i] * pieceBytes;
            if (load) {
              loads.toDevice(at, piece);
            } else {
              loads.toHost(piece, at);
            }
          }
        });
  }

  double batch(int pieceBytes, boolean load) throws CudaException {
    int pieces = pieces(pieceBytes);
    int[] order = order(pieces);
    long[] onGpu = new long[pieces];
    long[] onHost = new long[pieces];
    for (int i = 0; i < pieces; i++) {
      onGpu[i] = in + (long) order[i] * pieceBytes;
      onHost[i] = host.segment().address() + (long) i * pieceBytes;
    }
    return speed(
        (long) pieces * pieceBytes,
        () -> loads.copyBatch(load ? onGpu : onHost, load ? onHost : onGpu, pieceBytes));
  }

  /** Writes known bytes to device memory. */
  void fill(long memory, long length) throws CudaException {
    MemorySegment known = half(0).asSlice(0, length);
    long word = 0x9E3779B97F4A7C15L;
    for (long at = 0; at < length; at += Long.BYTES) {
      word = word * 0x5851F42D4C957F2DL + 1;
      known.set(ValueLayout.JAVA_LONG, at, word);
    }
    loads.toDevice(memory, known);
    loads.await();
  }

  /** Overwrites them. */
  void wipe(long memory, long length) throws CudaException {
    loads.fill(memory, (byte) 0xA5, length);
    loads.await();
  }

  /** The first byte of device memory that is not the one that {@link #fill} wrote; -1 if none. */
  long mismatch(long memory, long length) throws CudaException {
    MemorySegment found = half(1).asSlice(0, length);
    saves.toHost(found, memory);
    saves.await();
    return found.mismatch(half(0).asSlice(0, length));
  }

  private int pieces(int pieceBytes) {
    return (int) Math.min(MOST_PIECES, bytes / pieceBytes);
  }

  private static int[] order(int count) {
    int[] order = new int[count];
    Random random = new Random(2);
    for (int i = 0; i < count; i++) {
      int j = random.nextInt(i + 1);
      order[i] = order[j];
      order[j] = i;
    }
    return order;
  }

  private MemorySegment half(int index) {
    return host.segment().asSlice(index * bytes, bytes);
  }

  private double speed(long moved, Work work) throws CudaException {
    long start = System.nanoTime();
    work.submit();
    loads.await();
    saves.await();
    return moved / ((System.nanoTime() - start) / 1e9);
  }

  @Override
  public void close() throws CudaException {
    loads.close();
    saves.close();
    device.free(in);
    device.free(out);
    device.unpin(host.segment());
    host.close();
  }
}
