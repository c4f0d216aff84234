package io.orbitkv.transfer.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.orbitkv.transfer.GrantTable.Admission;
import io.orbitkv.transfer.PoolRange;
import io.orbitkv.transfer.Refusal;
import io.orbitkv.transfer.tcp.Wire.Answer;
import io.orbitkv.transfer.tcp.Wire.Challenge;
import io.orbitkv.transfer.tcp.Wire.Hello;
import io.orbitkv.transfer.tcp.Wire.Read;
import io.orbitkv.transfer.tcp.Wire.Welcome;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A peer's connection to this host's pool. It serves ranges that a grant admits, straight from the
 * pool's memory, and holds each grant until the kernel has taken the last byte or the connection is
 * closed: Netty tells of either only when no system call can read the memory any more.
 */
final class SourceConnection extends ChannelInboundHandlerAdapter {
  private final SourceSide source;
  private final Bits256 nonce;
  private @Nullable Frames frames;
  private boolean welcome;
  private boolean closing;
  private long bytesDue;
  private int requestsDue;
  private long lastMoveNanos;
  private long lastPending;
  private long lastProgress;

  SourceConnection(SourceSide source) {
    this.source = source;
    this.nonce = source.nonce();
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    frames = new Frames(context.alloc(), Wire.HELLO_BYTES);
    lastMoveNanos = System.nanoTime();
    ByteBuf out = context.alloc().buffer(Wire.CHALLENGE_BYTES);
    new Challenge(Wire.MAGIC, Wire.VERSION, nonce).write(out);
    var _ = context.writeAndFlush(out);
    TcpOptions.Patience patience = source.options().patience();
    var _ =
        context
            .executor()
            .schedule(
                () -> {
                  if (!welcome) {
                    var _ = context.close();
                  }
                },
                patience.hello().toNanos(),
                TimeUnit.NANOSECONDS);
    watch(context, patience.progress().toNanos());
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    closing = true;
    if (frames != null) {
      frames.close();
      frames = null;
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf in = (ByteBuf) message;
    try {
      if (closing || frames == null) {
        return;
      }
      frames.add(in);
      if (requestsDue == 0) {
        lastMoveNanos = System.nanoTime();
      }
      readFrames(context, frames.bytes());
    } catch (IllegalArgumentException | ArithmeticException malformed) {
      source.counters().badFrames.increment();
      close(context);
    } finally {
      in.release();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    context.flush();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    close(context);
  }

  private void readFrames(ChannelHandlerContext context, ByteBuf bytes) {
    if (!welcome) {
      if (bytes.readableBytes() < Wire.HELLO_BYTES) {
        return;
      }
      greet(context, Hello.read(bytes));
    }
    while (!closing && bytes.readableBytes() >= Integer.BYTES) {
      long frameBytes = bytes.getUnsignedIntLE(bytes.readerIndex());
      if (frameBytes < Wire.Read.bytesOf(1) || frameBytes > Wire.MAX_READ_FRAME_BYTES) {
        throw new IllegalArgumentException("a frame of " + frameBytes + " bytes");
      }
      if (bytes.readableBytes() < frameBytes) {
        return;
      }
      serve(context, Read.read(bytes, (int) frameBytes));
    }
  }

  private void greet(ChannelHandlerContext context, Hello hello) {
    Refusal refusal = refusalOf(hello);
    if (refusal != null) {
      source.counters().refused(refusal);
    }
    TcpOptions.Flow flow = source.options().flow();
    ByteBuf out = context.alloc().buffer(Wire.WELCOME_BYTES);
    Bits256 proof =
        refusal == null
            ? source
                .token()
                .ofSource(nonce, hello.nonce(), hello.reader(), source.options().runtime())
            : Bits256.ZERO;
    new Welcome(
            Wire.MAGIC,
            Wire.VERSION,
            refusal == null ? 0 : refusal.code(),
            flow.connectionBytes(),
            flow.connectionRequests(),
            proof)
        .write(out);
    ChannelFuture written = context.writeAndFlush(out);
    if (refusal == null) {
      welcome = true;
    } else {
      closing = true;
      written.addListener(ChannelFutureListener.CLOSE);
    }
  }

  private @Nullable Refusal refusalOf(Hello hello) {
    if (hello.magic() != Wire.MAGIC) {
      throw new IllegalArgumentException("no hello");
    }
    if (hello.version() != Wire.VERSION) {
      return Refusal.UNSUPPORTED_VERSION;
    }
    Bits256 expected =
        source.token().ofReader(nonce, hello.nonce(), hello.reader(), hello.source());
    if (!expected.matches(hello.proof())) {
      return Refusal.WRONG_TOKEN;
    }
    if (!hello.source().equals(source.options().runtime())) {
      return Refusal.WRONG_RUNTIME;
    }
    return source.hasRoom() ? null : Refusal.TOO_MANY_CONNECTIONS;
  }

  private void serve(ChannelHandlerContext context, Read read) {
    TcpOptions.Flow flow = source.options().flow();
    long payload = read.payloadBytes();
    if (requestsDue >= flow.connectionRequests() || bytesDue + payload > flow.connectionBytes()) {
      refuse(context, read, Refusal.TOO_MUCH_IN_FLIGHT);
      return;
    }
    switch (source.grants().admit(read.grant(), read.secret(), read.runtime(), read.ranges())) {
      case Admission.Refused(Refusal refusal) -> refuse(context, read, refusal);
      case Admission.Admitted admitted -> send(context, read, payload, admitted);
    }
  }

  private void refuse(ChannelHandlerContext context, Read read, Refusal refusal) {
    source.counters().refused(refusal);
    var _ = context.write(answer(context, refusal.code(), read.request(), 0));
  }

  private void send(
      ChannelHandlerContext context, Read read, long payload, Admission.Admitted admitted) {
    if (requestsDue == 0) {
      lastMoveNanos = System.nanoTime();
    }
    bytesDue += payload;
    requestsDue++;
    var _ = context.write(answer(context, 0, read.request(), payload));
    int last = read.ranges().size() - 1;
    for (int i = 0; i <= last; i++) {
      ChannelFuture written = context.write(poolBytes(read.ranges().get(i)));
      if (i == last) {
        written.addListener(
            done -> {
              admitted.release();
              bytesDue -= payload;
              requestsDue--;
              if (done.isSuccess()) {
                source.counters().requestsServed.increment();
                source.counters().bytesServed.add(payload);
              }
            });
      }
    }
  }

  private ByteBuf poolBytes(PoolRange range) {
    return Unpooled.wrappedBuffer(
        source.pool().asSlice(range.offset(), range.length()).asByteBuffer());
  }

  private static ByteBuf answer(
      ChannelHandlerContext context, int refusal, long request, long payload) {
    ByteBuf out = context.alloc().buffer(Wire.ANSWER_BYTES);
    new Answer(Wire.ANSWER_MAGIC, refusal, request, payload).write(out);
    return out;
  }

  /** Closes the connection when bytes are due and none move, or when nobody asks for long. */
  private void watch(ChannelHandlerContext context, long progressNanos) {
    var _ =
        context
            .executor()
            .schedule(
                () -> {
                  if (!context.channel().isOpen()) {
                    return;
                  }
                  long now = System.nanoTime();
                  if (hasMoved(context)) {
                    lastMoveNanos = now;
                  }
                  long idleNanos = 4 * source.options().patience().idle().toNanos();
                  if (now - lastMoveNanos >= (requestsDue > 0 ? progressNanos : idleNanos)) {
                    if (requestsDue > 0) {
                      source.counters().stalled.increment();
                    }
                    close(context);
                  } else {
                    watch(context, progressNanos);
                  }
                },
                Math.max(1, progressNanos / 4),
                TimeUnit.NANOSECONDS);
  }

  private boolean hasMoved(ChannelHandlerContext context) {
    ChannelOutboundBuffer outbound = context.channel().unsafe().outboundBuffer();
    if (outbound == null) {
      return false;
    }
    long pending = outbound.totalPendingWriteBytes();
    long progress = outbound.currentProgress();
    boolean moved = pending != lastPending || progress != lastProgress;
    lastPending = pending;
    lastProgress = progress;
    return moved;
  }

  private void close(ChannelHandlerContext context) {
    closing = true;
    var _ = context.close();
  }
}
