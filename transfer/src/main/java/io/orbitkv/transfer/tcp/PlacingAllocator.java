package io.orbitkv.transfer.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;

/**
 * Gives Netty the destination's own memory to read into, as soon as a connection knows what comes
 * next. Whichever transport reads, it asks here before each system call, so payload is written by
 * the kernel where it belongs.
 */
final class PlacingAllocator extends DefaultMaxMessagesRecvByteBufAllocator {
  private static final int MESSAGES_PER_TURN = 16;

  private final PeerConnection connection;

  @SuppressWarnings("this-escape") // Netty's own setter, of a field of its own.
  PlacingAllocator(PeerConnection connection) {
    super(MESSAGES_PER_TURN);
    this.connection = connection;
  }

  @Override
  public MaxMessageHandle newHandle() {
    return new MaxMessageHandle() {
      @Override
      public ByteBuf allocate(ByteBufAllocator allocator) {
        return connection.nextTarget(allocator);
      }

      @Override
      public int guess() {
        return PeerConnection.STAGING_BYTES;
      }
    };
  }
}
