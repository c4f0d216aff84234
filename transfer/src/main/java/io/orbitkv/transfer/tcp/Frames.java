package io.orbitkv.transfer.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/** Gathers bytes until a frame is whole, and never more than the largest frame and one read. */
final class Frames {
  private final ByteBuf bytes;

  Frames(ByteBufAllocator allocator, int initialBytes) {
    this.bytes = allocator.buffer(initialBytes);
  }

  /** Adds what came, which stays the caller's. */
  void add(ByteBuf more) {
    bytes.discardReadBytes();
    bytes.writeBytes(more);
  }

  ByteBuf bytes() {
    return bytes;
  }

  void close() {
    bytes.release();
  }
}
