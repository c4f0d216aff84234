package io.orbitkv.manager.endpoint;

import io.orbitkv.client.wire.ChannelGeometry;
import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.Memfd;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.Seal;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What one session's channel is made of: the shared memory with its rings and slots, and an eventfd
 * in each direction. Made before the registration is decided, so that want of descriptors refuses
 * it while nothing is promised. Control thread, but for reading the fields.
 */
final class ChannelMemory implements Signalled, AutoCloseable {
  private final ChannelGeometry geometry;
  private final Memfd memfd;
  private final Mapping mapping;
  private final EventFd doorbell;
  private final EventFd signal;
  private final SignalGuard guard;

  private final AtomicLong signalsBegun = new AtomicLong();
  private final AtomicLong signalsEnded = new AtomicLong();
  private volatile boolean heldUp;

  private ChannelMemory(
      ChannelGeometry geometry,
      Memfd memfd,
      Mapping mapping,
      EventFd doorbell,
      EventFd signal,
      SignalGuard guard) {
    this.geometry = geometry;
    this.memfd = memfd;
    this.mapping = mapping;
    this.doorbell = doorbell;
    this.signal = signal;
    this.guard = guard;
  }

  /**
   * @throws NativeException EMFILE, ENFILE or ENOMEM, with everything given back
   */
  static ChannelMemory create(ChannelGeometry geometry, SignalGuard guard) throws NativeException {
    Memfd memfd = Memfd.create("orbitkv-channel", geometry.bytes());
    Mapping mapping = null;
    EventFd doorbell = null;
    try {
      memfd.addSeals(Set.of(Seal.SHRINK, Seal.GROW, Seal.SEAL));
      mapping = Mapping.shared(memfd.descriptor(), 0, geometry.bytes(), MapOptions.READ_WRITE);
      doorbell = EventFd.create();
      ChannelMemory made =
          new ChannelMemory(geometry, memfd, mapping, doorbell, EventFd.create(), guard);
      guard.watch(made);
      return made;
    } catch (NativeException failed) {
      if (doorbell != null) {
        doorbell.close();
      }
      if (mapping != null) {
        mapping.close();
      }
      memfd.close();
      throw failed;
    }
  }

  ChannelGeometry geometry() {
    return geometry;
  }

  MemorySegment memory() {
    return mapping.segment();
  }

  /** The client rings it. */
  EventFd doorbell() {
    return doorbell;
  }

  /** Wakes the client. Loop thread, and those that copy. */
  void signalClient() throws NativeException {
    if (heldUp) {
      return;
    }
    signalsBegun.getAndIncrement();
    try {
      signal.signal();
    } finally {
      signalsEnded.getAndIncrement();
    }
  }

  @Override
  public long signalsEnded() {
    return signalsEnded.get();
  }

  @Override
  public boolean signalling() {
    long ended = signalsEnded.get();
    return signalsBegun.get() != ended;
  }

  /** Whether the client held up a thread that signalled it. It is not signalled any more. */
  boolean heldUp() {
    return heldUp;
  }

  @Override
  public boolean release() throws NativeException {
    if (!signal.isFull()) {
      return false;
    }
    heldUp = true;
    signal.drainNoWait();
    return true;
  }

  /** The three descriptors of REGISTERED, in their order. */
  List<OwnedFd> toSend() {
    return List.of(memfd.descriptor(), doorbell.descriptor(), signal.descriptor());
  }

  /** The mapping keeps the memory; the descriptor is not needed once it was sent. */
  void sent() {
    memfd.close();
  }

  @Override
  public void close() {
    guard.forget(this);
    memfd.close();
    mapping.close();
    doorbell.close();
    signal.close();
  }
}
