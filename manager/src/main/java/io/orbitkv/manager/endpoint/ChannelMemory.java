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

/**
 * What one session's channel is made of: the shared memory with its rings and slots, and an eventfd
 * in each direction. Made before the registration is decided, so that want of descriptors refuses
 * it while nothing is promised. Control thread, but for reading the fields.
 */
final class ChannelMemory implements AutoCloseable {
  private final ChannelGeometry geometry;
  private final Memfd memfd;
  private final Mapping mapping;
  private final EventFd doorbell;
  private final GuardedSignal signal;

  private ChannelMemory(
      ChannelGeometry geometry,
      Memfd memfd,
      Mapping mapping,
      EventFd doorbell,
      GuardedSignal signal) {
    this.geometry = geometry;
    this.memfd = memfd;
    this.mapping = mapping;
    this.doorbell = doorbell;
    this.signal = signal;
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
      return new ChannelMemory(geometry, memfd, mapping, doorbell, GuardedSignal.create(guard));
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
    signal.signal();
  }

  /** Whether the client held up a thread that signalled it. It is not signalled any more. */
  boolean heldUp() {
    return signal.heldUp();
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
    memfd.close();
    mapping.close();
    doorbell.close();
    signal.close();
  }
}
