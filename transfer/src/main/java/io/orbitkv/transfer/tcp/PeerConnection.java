package io.orbitkv.transfer.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.orbitkv.transfer.Refusal;
import io.orbitkv.transfer.TransferFailure;
import io.orbitkv.transfer.tcp.Wire.Answer;
import io.orbitkv.transfer.tcp.Wire.Challenge;
import io.orbitkv.transfer.tcp.Wire.Hello;
import io.orbitkv.transfer.tcp.Wire.Read;
import io.orbitkv.transfer.tcp.Wire.Welcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a source. Only its event loop touches it, and the destinations of its pieces.
 *
 * <p>A piece leaves it in one of three ways: its last byte is in place; it was never asked for; or
 * the connection is closed. Netty completes the close only after the last system call on the socket
 * has returned (with io_uring: after the receive has been cancelled and its completion seen), so
 * from then on nothing can write to the destination. That is why a read that is given up closes its
 * connection: it is the only proof there is while a source is silent. Pieces of other reads on the
 * connection are asked for again on a new one.
 */
final class PeerConnection extends ChannelInboundHandlerAdapter {
  /** Enough for an answer's head and a small payload; larger ones are read in place. */
  static final int STAGING_BYTES = 4 << 10;

  private enum State {
    CHALLENGE,
    WELCOME,
    OPEN,
    CLOSED
  }

  private final TcpTransferEngine engine;
  private final PeerLinks.Stripes stripes;
  private final EventLoop loop;
  private final Bits256 readerNonce;
  private final Deque<Piece> waiting = new ArrayDeque<>();
  private final Deque<Piece> asked = new ArrayDeque<>();
  private final ByteBuf head = Unpooled.buffer(Wire.WELCOME_BYTES);
  private Bits256 sourceNonce = Bits256.ZERO;
  private State state = State.CHALLENGE;
  private @Nullable Channel channel;
  private @Nullable ByteBuf placed;
  private @Nullable TransferFailure whyClosed;
  private boolean closedForAbort;
  private boolean opened;
  private long payloadLeft;
  private long bytesAsked;
  private long maxBytes;
  private int maxRequests;
  private long nextRequest;
  private long firstRequest;
  private long lastMoveNanos = System.nanoTime();

  PeerConnection(TcpTransferEngine engine, PeerLinks.Stripes stripes, EventLoop loop) {
    this.engine = engine;
    this.stripes = stripes;
    this.loop = loop;
    this.readerNonce = engine.nonce();
  }

  EventLoop loop() {
    return loop;
  }

  /** Takes a piece over, from any thread. */
  void submit(Piece piece) {
    if (loop.inEventLoop()) {
      accept(piece);
      return;
    }
    try {
      loop.execute(() -> accept(piece));
    } catch (RejectedExecutionException shutDown) {
      piece.failed(new TransferFailure.Closed());
    }
  }

  /** Lets go of a piece, from any thread: at once if it was not asked for, else by closing. */
  void abort(Piece piece) {
    loop.execute(
        () -> {
          if (waiting.remove(piece)) {
            piece.operation().over();
          } else if (asked.contains(piece)) {
            closedForAbort = true;
            close(new TransferFailure.Cancelled());
          }
        });
  }

  /** The connection attempt is over. One that failed may have no event loop behind it. */
  void connected(Channel made, @Nullable Throwable cause) {
    if (cause == null) {
      made.closeFuture().addListener(closed -> ended());
      return;
    }
    try {
      loop.execute(
          () -> {
            close(new TransferFailure.Unreachable(String.valueOf(cause.getMessage())));
            ended();
          });
    } catch (RejectedExecutionException shutDown) {
      engine.gone(this);
    }
  }

  void closeNow(TransferFailure why) {
    loop.execute(() -> close(why));
  }

  /** What the next bytes are to be read into. */
  ByteBuf nextTarget(ByteBufAllocator allocator) {
    if (payloadLeft > 0) {
      ByteBuf target = asked.element().target();
      if (target != null) {
        placed = target;
        return target;
      }
    }
    return allocator.directBuffer(STAGING_BYTES);
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    channel = context.channel();
    if (state == State.CLOSED) {
      var _ = context.close();
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    TcpOptions.Patience patience = engine.options().patience();
    var _ =
        loop.schedule(
            () -> {
              if (state == State.CHALLENGE || state == State.WELCOME) {
                close(new TransferFailure.Unreachable("no welcome within " + patience.hello()));
              }
            },
            patience.hello().toNanos(),
            TimeUnit.NANOSECONDS);
    watch(patience.progress().toNanos());
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf in = (ByteBuf) message;
    try {
      lastMoveNanos = System.nanoTime();
      if (isPlaced(in)) {
        placed = null;
        int count = in.readableBytes();
        asked.element().advance(count);
        arrived(count);
      } else {
        takeAll(in);
      }
    } finally {
      in.release();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    close(new TransferFailure.PeerLost("the source closed the connection"));
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    close(new TransferFailure.PeerLost(String.valueOf(cause.getMessage())));
  }

  @SuppressWarnings(
      "ReferenceEquality") // The very buffer that was handed out, not one of equal content.
  private boolean isPlaced(ByteBuf in) {
    return in == placed;
  }

  private void accept(Piece piece) {
    if (piece.operation().hasEnded()) {
      piece.operation().over();
    } else if (state != State.CLOSED) {
      if (asked.isEmpty()) {
        lastMoveNanos = System.nanoTime();
      }
      waiting.add(piece);
      pump();
    } else if (opened || whyClosed == null) {
      again(piece);
    } else {
      piece.failed(whyClosed);
    }
  }

  private void pump() {
    Channel open = channel;
    if (state != State.OPEN || open == null) {
      return;
    }
    boolean wrote = false;
    for (Piece piece = waiting.peek(); piece != null; piece = waiting.peek()) {
      if (piece.bytes() > maxBytes) {
        waiting.remove();
        piece.failed(new TransferFailure.Refused(Refusal.TOO_MUCH_IN_FLIGHT));
        continue;
      }
      if (asked.size() >= maxRequests || bytesAsked + piece.bytes() > maxBytes) {
        break;
      }
      waiting.remove();
      asked.add(piece);
      bytesAsked += piece.bytes();
      var _ = open.write(request(open.alloc(), piece));
      wrote = true;
    }
    if (wrote) {
      open.flush();
    }
  }

  private ByteBuf request(ByteBufAllocator allocator, Piece piece) {
    var grant = piece.operation().grant();
    Read read =
        new Read(nextRequest++, grant.id(), grant.secret(), grant.runtime(), piece.ranges());
    ByteBuf out = allocator.buffer(Read.bytesOf(read.ranges().size()));
    read.write(out);
    return out;
  }

  private void takeAll(ByteBuf in) {
    while (in.isReadable() && state != State.CLOSED) {
      if (payloadLeft > 0) {
        int count = (int) Math.min(payloadLeft, in.readableBytes());
        asked.element().take(in, count);
        arrived(count);
        continue;
      }
      int wanted = headBytes() - head.readableBytes();
      head.writeBytes(in, Math.min(wanted, in.readableBytes()));
      if (head.readableBytes() == headBytes()) {
        takeHead();
        head.clear();
      }
    }
  }

  private int headBytes() {
    return switch (state) {
      case CHALLENGE -> Wire.CHALLENGE_BYTES;
      case WELCOME -> Wire.WELCOME_BYTES;
      case OPEN, CLOSED -> Wire.ANSWER_BYTES;
    };
  }

  private void takeHead() {
    switch (state) {
      case CHALLENGE -> takeChallenge(Challenge.read(head));
      case WELCOME -> takeWelcome(Welcome.read(head));
      case OPEN -> takeAnswer(Answer.read(head));
      case CLOSED -> {}
    }
  }

  private void takeChallenge(Challenge challenge) {
    Channel open = channel;
    if (challenge.magic() != Wire.MAGIC || open == null) {
      misbehaved("no challenge");
      return;
    }
    sourceNonce = challenge.nonce();
    ByteBuf out = open.alloc().buffer(Wire.HELLO_BYTES);
    new Hello(
            Wire.MAGIC,
            Wire.VERSION,
            engine.options().runtime(),
            stripes.peer().runtime(),
            readerNonce,
            engine
                .options()
                .token()
                .ofReader(
                    sourceNonce, readerNonce, engine.options().runtime(), stripes.peer().runtime()))
        .write(out);
    var _ = open.writeAndFlush(out);
    state = State.WELCOME;
  }

  private void takeWelcome(Welcome welcome) {
    if (welcome.magic() != Wire.MAGIC) {
      misbehaved("no welcome");
      return;
    }
    if (welcome.refusal() != 0) {
      refused(welcome.refusal());
      return;
    }
    Bits256 expected =
        engine
            .options()
            .token()
            .ofSource(
                sourceNonce, readerNonce, engine.options().runtime(), stripes.peer().runtime());
    if (!expected.matches(welcome.proof())) {
      misbehaved("it does not know the token");
      return;
    }
    if (welcome.maxBytes() < 1 || welcome.maxRequests() < 1) {
      misbehaved("a welcome that admits nothing");
      return;
    }
    maxBytes = welcome.maxBytes();
    maxRequests = welcome.maxRequests();
    state = State.OPEN;
    opened = true;
    pump();
  }

  private void refused(int code) {
    close(
        Refusal.of(code)
            .<TransferFailure>map(TransferFailure.Refused::new)
            .orElseGet(() -> new TransferFailure.Misbehaved("refusal " + code)));
  }

  private void takeAnswer(Answer answer) {
    Piece piece = asked.peek();
    if (answer.magic() != Wire.ANSWER_MAGIC
        || piece == null
        || answer.request() != firstRequest
        || answer.payloadBytes() != (answer.refusal() == 0 ? piece.bytes() : 0)) {
      misbehaved("an answer to nothing");
      return;
    }
    if (answer.refusal() == 0) {
      payloadLeft = piece.bytes();
      return;
    }
    var refusal = Refusal.of(answer.refusal());
    if (refusal.isEmpty()) {
      misbehaved("refusal " + answer.refusal());
      return;
    }
    leave(piece);
    piece.failed(new TransferFailure.Refused(refusal.get()));
    pump();
  }

  private void arrived(long count) {
    payloadLeft -= count;
    if (payloadLeft == 0) {
      Piece piece = asked.element();
      leave(piece);
      piece.arrived();
      pump();
    }
  }

  private void leave(Piece first) {
    asked.remove();
    firstRequest++;
    bytesAsked -= first.bytes();
  }

  private void misbehaved(String why) {
    engine.counters().badFrames.increment();
    close(new TransferFailure.Misbehaved(why));
  }

  /** Takes no more pieces; those it has stay until the socket is closed. */
  private void close(TransferFailure why) {
    if (state == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    whyClosed = why;
    stripes.leave(this);
    Channel open = channel;
    if (open != null) {
      var _ = open.close();
    }
  }

  /** The socket is closed: nothing can write to any destination any more. */
  private void ended() {
    close(new TransferFailure.PeerLost("the source closed the connection"));
    TransferFailure why = whyClosed;
    if (why == null) {
      throw new IllegalStateException("closed without a reason");
    }
    engine.gone(this);
    List<Piece> left = new ArrayList<>(asked);
    left.addAll(waiting);
    asked.clear();
    waiting.clear();
    payloadLeft = 0;
    for (Piece piece : left) {
      if (piece.operation().hasEnded()) {
        piece.operation().over();
      } else if (closedForAbort) {
        again(piece);
      } else {
        piece.failed(why);
      }
    }
  }

  private void again(Piece piece) {
    if (piece.tries() >= engine.maxTries()) {
      piece.failed(new TransferFailure.PeerLost("too many connections were given up"));
      return;
    }
    engine.counters().retries.increment();
    engine.submitAgain(piece, stripes.peer());
  }

  private void watch(long progressNanos) {
    var _ =
        loop.schedule(
            () -> {
              if (state == State.CLOSED) {
                return;
              }
              long still = System.nanoTime() - lastMoveNanos;
              boolean due = !asked.isEmpty();
              if (due && still >= progressNanos) {
                engine.counters().stalled.increment();
                close(
                    new TransferFailure.PeerLost("no byte came for " + still / 1_000_000 + " ms"));
              } else if (!due
                  && waiting.isEmpty()
                  && still >= engine.options().patience().idle().toNanos()) {
                close(new TransferFailure.PeerLost("idle"));
              } else {
                watch(progressNanos);
              }
            },
            Math.max(1, progressNanos / 4),
            TimeUnit.NANOSECONDS);
  }
}
